"""One page each: controls → frame → empty state → chart; nothing is computed here."""
