"""Tile schedulers: which block computes which tiles, and which k steps of them."""
