"""Why a program is cut into the kernels that it has: reasons, as `tile.cuts` has them.

During `import` the attribute stands on the first operation of a kernel, and names other kernels by their numbers; then
on the kernel's module, where it names them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.spec.attributes import CUTS, NOTE
from mlir_gemm.spec.kernel_record import PRODUCT, ROWS


def why_after(kind: str, reader: str, readers: Sequence[Any], makers: Sequence[Any], apart: str) -> str:
    """Why a kernel is cut from one whose result it reads.

    Args:
        kind, reader: the kinds of the kernel that is read from and of the one that reads.
        readers, makers: the operations of the latter that read, and those of the former that make what they read.
        apart: why two kernels without products are not one, where that has been found out.
    """
    if any(map(structured.is_free, readers)):
        return "it reads elements at places that it computes, which others have to compute first"
    if reader == PRODUCT and not any(_is_product(op) for op in readers):
        return "it is read after the product, with the elements of the result"
    if reader == PRODUCT:
        return {
            PRODUCT: "it adds up along rows of this product's result, which several tiles compute",
            ROWS: "each of its tiles reads whole rows, which would be reduced again for each",
        }.get(kind, "many of its tiles read the same elements, which are computed once in front")
    if kind == PRODUCT:
        notes = [ir.StringAttr(op.attributes[NOTE]).value for op in readers if NOTE in op.attributes]
        if reader == ROWS:
            return "rows are reduced whole, and several tiles of the product compute one"
        return next(iter(notes), "it does not take each element of the product's result once")
    if any(map(structured.is_free, makers)):
        return "what it reads is read at computed places, or checked: a thread does that for each element"
    if any(structured.is_generic(op) and not structured.read(op).elementwise for op in makers) and kind != ROWS:
        return "each of its elements is added up by one thread before it is read"
    return apart or "several read what is computed there, or not element by element"


def _is_product(op: Any) -> bool:
    product = product_of(op)
    return product is not None and not product.is_pointwise


def write(op: Any, cuts: Mapping[str, str]) -> None:
    """Writes down from which kernels an operation's kernel, or a module, is cut, and why; nothing for none."""
    attributes = op.operation.attributes
    if cuts:
        attributes[CUTS] = ir.DictAttr.get({name: ir.StringAttr.get(why) for name, why in cuts.items()})
    elif CUTS in attributes:
        del attributes[CUTS]


def read(op: Any) -> dict[str, str]:
    """What `write` wrote."""
    attributes = op.operation.attributes
    if CUTS not in attributes:
        return {}
    found = ir.DictAttr(attributes[CUTS])
    return {found[number].name: ir.StringAttr(found[number].attr).value for number in range(len(found))}


def renumbered(ops: Sequence[Any], places: Mapping[int, int]) -> None:
    """Lets the cuts of operations follow their kernels to new numbers; cuts from kernels without one go."""
    for op in ops:
        kept = {str(place): why for number, place in places.items() if (why := read(op).get(str(number)))}
        write(op, kept)


def add(module: Any, name: str, why: str) -> None:
    """Says that a kernel's module is cut from the kernel of that name."""
    write(module, {**read(module), name: why})
