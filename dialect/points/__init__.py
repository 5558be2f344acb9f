"""Point by point: what kernels over points compute at each of them, and the nests of loops over the points of a tile,
in which products and accesses to whole tiles are recognised.
"""
