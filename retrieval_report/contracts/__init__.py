"""The rules for every frame, argument and option, and the errors raised when one is broken."""
