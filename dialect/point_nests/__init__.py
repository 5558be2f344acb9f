"""Nests of loops over the points of a tile, in which products and accesses to whole tiles are recognised."""
