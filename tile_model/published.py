"""The published tiling rules, exactly as published: Khandelwal's study of tiling for tensor cores in MLIR.

They know no padding, no registers and no chip but its shared memory, so the model treats them as a preference and as
a baseline to compare with, never as legality. Rules 5.1 to 5.3 choose block tiles:

* 5.1: T_m = T_n, as a preference
* 5.2: T_m >= 2 T_k and T_n >= 2 T_k
* 5.3: (T_m T_k + T_n T_k) S_data <= S_mem

and two rules choose warp tiles inside a block tile: at most half the block tile and at least 16 in each dimension,
and (T_m / W_m) (T_n / W_n) 32 <= 1024. All sizes are powers of two, in elements.
"""

from __future__ import annotations

from mlir_gemm.spec.schedule import Tile

SMALLEST = 16
"""Smallest size of a tile in each dimension: the tensor-core operation's."""
WARP_SIZE = 32
MOST_THREADS = 1024


def is_square(block: Tile) -> bool:
    """Rule 5.1, the preference: T_m = T_n."""
    return block[0] == block[1]


def is_shallow(block: Tile) -> bool:
    """Rule 5.2: T_m >= 2 T_k and T_n >= 2 T_k."""
    return min(block[0], block[1]) >= 2 * block[2]


def fits(block: Tile, smem_bytes: int, element_bytes: int) -> bool:
    """Rule 5.3: the tiles of A and B, without padding, fit in `smem_bytes` of shared memory."""
    m, n, k = block
    return (m * k + n * k) * element_bytes <= smem_bytes


def published_block_tiles(smem_bytes: int, element_bytes: int) -> list[Tile]:
    """Every block tile that meets rules 5.2 and 5.3, in our order of preference, best first.

    The rules leave several tiles (256x256x32 needs the same 32 KB as 128x128x64), and do not say which to take. Our
    reading: square tiles first (rule 5.1), then the largest T_k, which has the fewest steps and barriers, then the
    largest T_m T_n, which moves the least data.
    """
    widest = smem_bytes // (element_bytes * SMALLEST)
    sizes = [2**power for power in range(SMALLEST.bit_length() - 1, max(widest, 1).bit_length())]
    tiles: list[Tile] = [(m, n, k) for m in sizes for n in sizes for k in sizes]
    meeting = [tile for tile in tiles if is_shallow(tile) and fits(tile, smem_bytes, element_bytes)]
    return sorted(meeting, key=lambda tile: (not is_square(tile), -tile[2], -tile[0] * tile[1], -tile[0]))


def published_block_tile(smem_bytes: int, element_bytes: int) -> Tile:
    """The block tile that the rules and our order choose: 128x128x64 for 48 KB and 2-byte elements.

    Raises ValueError when no tile meets the rules, which takes less than 2 KB of shared memory for 2-byte elements.
    """
    tiles = published_block_tiles(smem_bytes, element_bytes)
    if not tiles:
        raise ValueError(f"no block tile of {element_bytes}-byte elements fits in {smem_bytes} bytes of shared memory")
    return tiles[0]


def published_warp_tiles(block: Tile) -> list[Tile]:
    """Every warp tile that the two warp rules allow in `block`, largest first. Empty when `block` is below 32x32x32."""

    def sizes(extent: int) -> list[int]:
        half = [SMALLEST << shift for shift in range(extent.bit_length()) if SMALLEST << shift <= extent // 2]
        return half[::-1]

    def threads(m: int, n: int) -> int:
        return (block[0] // m) * (block[1] // n) * WARP_SIZE

    return [
        (m, n, k)
        for m in sizes(block[0])
        for n in sizes(block[1])
        for k in sizes(block[2])
        if threads(m, n) <= MOST_THREADS
    ]
