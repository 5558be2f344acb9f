"""What the caches are told of A and B."""
