"""What warp-level mmas (mma.sync, WMMA, ordinary arithmetic) have in common: the search, and the cost."""
