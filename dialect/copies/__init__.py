"""Moving tiles: what fills a staging buffer, how the threads of a block divide a tile, and the pieces that each of them
loads, computes on and stores.
"""
