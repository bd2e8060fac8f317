"""What should happen: functions from a configuration to the number that should come out."""
