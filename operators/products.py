"""What every operator asks of the products that it lowers."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect import tile
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.passes.distribute_warps import SCOPE, check_product


def check_warp_product(product: Any) -> None:
    """Refuses a tile.mma that is not on warp tiles, or whose operands do not fit together."""
    if SCOPE not in product.operation.attributes:
        raise pass_error(product, "a product of whole block tiles; expected warp tiles, which distribute-warps makes")
    check_product(product)


def is_plain(access: Any) -> bool:
    """Whether a tile.load or tile.store takes a matrix' rows and columns as they lie, and surely within the memory: all
    that an operator can do that does not know which lane holds what."""
    place = tile.place_of(access)
    return place.dims == (0, 1) and all(place.in_bounds)
