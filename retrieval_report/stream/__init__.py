"""Score sorted batches of rows, such as a cluster hands to each worker."""
