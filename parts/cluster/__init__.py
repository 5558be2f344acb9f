"""What the blocks of a cluster do together."""
