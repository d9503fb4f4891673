"""What every frame, argument and option has to be, and the errors that say so."""
