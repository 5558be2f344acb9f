"""What passes and their options, operations of the tile dialect and attributes were called in earlier versions: who
uses an old name is told the new one. A name is added here when it is changed."""

from __future__ import annotations

PASSES = {
    "describe-copies": "create-tensor-maps",
    "divide-steps": "split-k-in-workspace",
    "keep-lines": "l2-eviction-policy",
    "launch-points": "launch-elementwise",
    "lower-async": "lower-cp-async",
    "lower-rings": "lower-mbarrier-pipeline",
    "lower-roles": "lower-warp-specialize",
    "map-blocks": "rasterize-blocks",
    "mark-maps": "mark-tensor-maps",
    "overlap-launches": "programmatic-dependent-launch",
    "pace-epilogue": "throttle-epilogue",
    "persist-blocks": "persistent-tile-scheduler",
    "point-loops": "elementwise-loops",
    "prefetch-copies": "register-prefetch",
    "select-divide": "select-rewrite",
    "select-relayout": "select-rewrite",
    "select-split-k": "select-rewrite",
    "select-swap": "select-rewrite",
    "select-swap-a-b": "select-rewrite",
    "share-copies": "tma-multicast",
    "specialize-copies": "warp-specialize",
    "split-steps": "split-k-in-cluster",
    "spread-copies": "interleave-cp-async",
    "stage-epilogue": "wmma-epilogue",
    "stage-rows": "unaligned-store-epilogue",
    "stage-stores": "tma-store-epilogue",
    "stream-copies": "cp-async-pipeline",
    "stream-steps": "stream-k",
    "sum-parts": "reduce-through-dsmem",
    "swap-sides": "swap-a-b",
}
"""By its former name: a pass."""
OPTIONS = {
    "mma-to-sync": {"ahead": "double_buffer"},
    "persistent-tile-scheduler": {"turns": "consumers"},
    "rasterize-blocks": {"group": "raster_group", "split": "split_k_cluster"},
    "split-k-in-workspace": {"parts": "slices"},
    "throttle-epilogue": {"turns": "consumers"},
}
"""By its former name: an option of a pass, by the pass's name of today."""
OPERATIONS = {
    "tile.acquire": "tile.producer_acquire",
    "tile.add_parts": "tile.fix_up",
    "tile.cluster_sum": "tile.dsmem_reduce",
    "tile.copy_bulk": "tile.tma_load",
    "tile.filled": "tile.consumer_wait",
    "tile.leave_part": "tile.store_partials",
    "tile.make_turns": "tile.order_barrier",
    "tile.pass_turn": "tile.order_arrive",
    "tile.release": "tile.consumer_release",
    "tile.specialize": "tile.warp_specialize",
    "tile.store_bulk": "tile.tma_store",
    "tile.store_rows": "tile.unaligned_store",
    "tile.store_wait": "tile.tma_store_wait",
    "tile.take_turn": "tile.order_wait",
    "tile.turn": "tile.consumer_id",
}
"""By its former name: an operation."""
ATTRIBUTES = {
    "tile.divided": "tile.split_k_workspace",
    "tile.from_sum": "tile.from_reduction",
    "tile.overlap": "tile.dependent_launch",
    "tile.part": "tile.k_range",
    "tile.split": "tile.split_k_cluster",
    "tile.turns": "tile.ping_pong",
    "tile.until_sum": "tile.until_reduction",
}
"""By its former name: an attribute."""
FIELDS = {
    "operator": "mma", "copy": "mainloop", "bulk": "smem_epilogue", "overlap": "dependent_launch",
    "ahead": "early_trigger", "turns": "ping_pong", "pace": "throttle", "stream": "stream_k",
    "split": "split_k_cluster", "divide": "split_k_workspace", "keep_a": "l2_keep_a", "keep_b": "l2_keep_b",
    "resident": "min_blocks", "exchanged": "swap_ab", "group": "raster_group", "spread": "interleave",
}  # fmt: skip
"""Fields of the schedule."""
MAINLOOPS = {"plain": "direct", "prefetch": "register_prefetch"}
"""Main loops."""
