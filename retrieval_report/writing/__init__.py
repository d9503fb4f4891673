"""Files that are written whole or not at all, and names that are made safe and short."""
