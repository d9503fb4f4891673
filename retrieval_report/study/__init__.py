"""The object that holds inputs, settings, and every answer."""
