"""How products of warp tiles become instructions of lanes, and which lane then holds which elements."""
