"""What every mma asks of the products that it lowers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeVar

from mlir_gemm.dialect import tile
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import named
from mlir_gemm.spec.attributes import SCOPE

Kind = TypeVar("Kind", bound=Hashable)


def kernels_by_kind(
    module: Any, kind_of: Callable[[Any], Kind], noun: str, any_algebra: bool = False
) -> Iterator[tuple[Any, Kind]]:
    """The kernel functions of a module that have products, one after another, each with the kind of its products.

    `kind_of` tells the kind of a product of warp tiles, or refuses it; a kernel with several kinds is refused, and what
    they differ in is named by `noun`."""
    for kernel in named(module, "gpu.func"):
        products = named(kernel, "tile.mma")
        if not products:
            continue
        kinds: dict[Kind, None] = {}
        for product in products:
            check_warp_product(product, any_algebra)
            kinds[kind_of(product)] = None
        if len(kinds) > 1:
            raise pass_error(products[0], f"products of different {noun}s in one kernel; expected one {noun}")
        yield kernel, next(iter(kinds))


def check_warp_product(product: Any, any_algebra: bool = False) -> None:
    """Refuses a tile.mma that is not on warp tiles, and one that does not multiply and add numbers unless `any_algebra`
    is meant."""
    algebra = tile.algebra_of(product)
    if algebra is not None and not any_algebra:
        raise pass_error(product, f"a product by {algebra}; expected one of numbers: mma-to-fma takes any algebra")
    if SCOPE not in product.operation.attributes:
        raise pass_error(product, "a product of whole block tiles; expected warp tiles, which distribute-warps makes")


def is_plain(access: Any) -> bool:
    """Whether a tile.load or tile.store takes a matrix' rows and columns as they lie, and surely within the memory: all
    that an mma can do that does not know which lane holds what."""
    place = tile.place_of(access)
    return place.dims == (0, 1) and all(place.in_bounds)
