"""What ties are there, what they leave open, and what splits or makes them."""
