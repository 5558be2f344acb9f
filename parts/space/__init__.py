"""Spaces of tiles: which tiles of a result are computed."""
