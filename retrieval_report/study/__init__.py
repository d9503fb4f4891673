"""`Study`: one object that holds inputs, settings and every answer."""
