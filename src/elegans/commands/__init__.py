"""The commands of the command line, a module each with `main(arguments) -> exit code`."""
