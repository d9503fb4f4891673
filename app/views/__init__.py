"""The pages, one per module: controls, frame, empty state, chart; nothing is computed here."""
