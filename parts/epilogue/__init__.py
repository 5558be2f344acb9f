"""How results leave."""
