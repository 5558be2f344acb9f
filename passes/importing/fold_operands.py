"""fold-operands: what is computed elementwise for a product's operand is computed in the product's body.

Expects linalg.generic on tensors (after fold-movement). An elementwise generic that makes an input of a reduction is
computed there instead, so that the product reads what is in memory (f16, or int8 with its scales):
- exact extensions (extf, extsi, extui) always, also where others use them: the tensor cores multiply the narrow values;
- anything else with one use, into a reduction along rows where what it is computed from is needed elsewhere too;
- anything else with one use that is not reached from another product (whose epilogue it will be) or from a reduction
  along rows (which computes it while it has the row), if that pays: for r
  tiles side by side that need it, each reading its inputs, against a kernel that reads them once and writes the result;
  functions such as exp up to r = REPEATS;
- nothing that reads single components of elements, every second number, say: a kernel in front lays them out;
- a multiplication that is summed up, whatever it is reached from: together they are a product. One of f16 or bf16 whose
  products are summed up in f32 is then done in f32, where it is exact.
A product stays a product: what would make it none is left, and is computed by a kernel of its own. So are weights that
run along the windows of an image (`tile.windows`) only once they are laid out anew. `extensions` does only the first,
before fuse-elementwise joins what is left into chains. A second run changes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.components import is_scattered
from mlir_gemm.dialect.linalg.generics import (
    Generic,
    behind,
    element_of,
    erase_dead,
    fused,
    generics,
    one_use,
    owner_of,
    producer,
    read,
    replace,
    writes_once,
)
from mlir_gemm.dialect.linalg.images import runs_as_windows
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.outlining.row_kernels import can_be_rows
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.passes.base import Pass

EXTENSIONS = ("arith.extf", "arith.extsi", "arith.extui")
"""Casts that keep the value."""
CHEAP_MATH = ("math.absf", "math.absi", "math.floor", "math.ceil", "math.round", "math.roundeven", "math.trunc",
              "math.copysign", "math.fma")  # fmt: skip
"""Operations of `math` that are a few instructions."""
NARROW = 16
"""Bits of the types whose products are exact in f32."""
REPEATS, TILE = 8, 128
"""Expensive functions are folded up to this many repetitions of their computation, counted in tiles of this size."""


@dataclass(frozen=True)
class FoldOperands(Pass):
    """Compute elementwise operands in the body of their product."""

    name: ClassVar[str] = "fold-operands"
    extensions: bool = False

    def run(self, module: Any) -> None:
        for operation in generics(module):
            _fold(operation.operation, self.extensions)
        erase_dead(module)


def is_extension(generic: Generic) -> bool:
    """Whether an elementwise generic does nothing but extend one input exactly."""
    inner = in_block(generic.block)
    return (
        len(generic.inputs) == 1
        and len(inner) > 1
        and all(operation.operation.name in EXTENSIONS for operation in inner[:-1])
    )


def _fold(operation: Any, extensions: bool) -> None:
    position = 0
    while (generic := read(operation)) is not None and not generic.parallel and position < len(generic.inputs):
        source = producer(generic.inputs[position])
        if source is None or not writes_once(source) or (extensions and not is_extension(source)):
            position += 1
            continue
        new = _folded(generic, position, source)
        if new is None:
            position += 1
            continue
        replace(generic, new)
        if not list(source.results[0].uses):
            source.operation.erase()
        operation = new


def _folded(generic: Generic, position: int, source: Generic) -> Any | None:
    """The reduction with an operand's producer in its body; None if that has to stay."""
    product = product_of(generic.operation) is not None
    if product and any(map(is_scattered, source.inputs)):
        return None
    alone = one_use(generic.inputs[position])
    allowed = is_extension(source) or (alone and _pays(generic, position, source))
    if not allowed and (product or not alone):
        return None
    new = _wide_product(generic, position, source) or fused(generic, position, source)
    if new is None:
        return None
    becomes_product = product_of(new) is not None
    lost = product and not (becomes_product and runs_as_windows(generic, new, position))
    if lost or not (allowed or becomes_product):
        new.erase()
        return None
    return new


def _wide_product(generic: Generic, position: int, source: Generic) -> Any | None:
    """Where f16 or bf16 numbers are multiplied in their type and the products summed up in f32, the product with the
    multiplication in f32 too, as tensor cores do it; None for anything else."""
    made = owner_of(source.yielded[0])
    if made is None or made.name != "arith.mulf" or element_of(source.outputs[0]).width != NARROW:
        return None
    if product_of(generic.operation) is not None:
        return None
    new = fused(generic, position, source)
    if new is None:
        return None
    for extension in [op.operation for op in in_block(body(new)) if op.operation.name == "arith.extf"]:
        _multiply_wide(extension)
    if product_of(new) is None:
        new.erase()
        return None
    return new


def _multiply_wide(extension: Any) -> None:
    """The extension of a product of two numbers as the product of their extensions."""
    multiplication = owner_of(extension.operands[0])
    if multiplication is None or multiplication.name != "arith.mulf" or not one_use(extension.operands[0]):
        return
    arith, type_ = dialect("arith"), extension.results[0].type
    with ir.InsertionPoint(extension), extension.location:
        left, right = (arith.ExtFOp(type_, each).result for each in multiplication.operands)
        wide = arith.MulFOp(left, right).result
    extension.results[0].replace_all_uses_with(wide)
    extension.erase()
    multiplication.erase()


def _pays(generic: Generic, position: int, source: Generic) -> bool:
    if can_be_rows(generic.operation) and not any(one_use(value) for value in source.inputs):
        return True  # what it is computed from is needed in memory anyway
    if any(product_of(each) is not None or can_be_rows(each) for each in behind(generic.inputs[position])):
        return False
    others = [
        size
        for loop, size in enumerate(generic.sizes)
        if loop not in generic.maps[position] and not generic.reductions[loop]
    ]
    repeats = -(-math.prod(others) // TILE)
    names = [operation.operation.name for operation in in_block(source.block)]
    if repeats > REPEATS and any(name.startswith("math.") and name not in CHEAP_MATH for name in names):
        return False
    whole = [value for value, map_ in zip(source.inputs, source.maps, strict=False) if len(map_) == len(source.sizes)]
    read_bits = sum(element_of(value).width for value in whole)
    written_bits = element_of(source.outputs[0]).width
    return read_bits * repeats <= read_bits + written_bits * (1 + repeats)
