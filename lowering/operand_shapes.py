"""The shapes of a product's operands: what every pass that touches a tile.mma asks of them."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect import tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error


def check_product(product: Any) -> None:
    """Refuses a tile.mma whose operands are not matrices of constant sizes that fit together."""
    types = [value.type for value in product.operation.operands]
    shapes = [list(type_.shape) for type_ in types] if all(map(_is_static, types)) else []
    orders = tile.order_of(product, "a"), tile.order_of(product, "b")
    if [len(shape) for shape in shapes] == [2, 2, 2] and orders[0] in ("mk", "km") and orders[1] in ("kn", "nk"):
        sizes = [dict(zip(order, shape, strict=True)) for order, shape in zip((*orders, "mn"), shapes, strict=True)]
        if all(one[axis] == other[axis] for one, other, axis in zip(sizes, [*sizes[1:], sizes[0]], "knm", strict=True)):
            return
    raise pass_error(
        product,
        f'a product of {types[0]} by {types[1]} into {types[2]}, a = "{orders[0]}", b = "{orders[1]}"; '
        "expected M x K by K x N into M x N of constant sizes, as a and b name them",
    )


def _is_static(type_: Any) -> bool:
    return isinstance(type_, ir.MemRefType | ir.VectorType) and type_.has_static_shape
