"""How results are stored."""
