"""What is checked before a release: `make dist`."""
