"""How rows of A and B lie in shared memory."""
