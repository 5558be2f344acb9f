"""Orders in which blocks walk the tiles of the result."""
