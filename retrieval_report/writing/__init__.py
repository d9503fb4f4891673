"""Write files whole or not at all, and make names safe and short."""
