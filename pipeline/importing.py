"""The stage `import`: the passes from what a user wrote to kernels on memrefs (docs/inputs.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mlir_gemm.spec import extensions
from mlir_gemm.spec.attributes import ALGEBRA
from mlir_gemm.spec.extension_points import FrontEnd, Rewrites
from mlir_gemm.spec.passes import PassSpec, step, upstream
from mlir_gemm.spec.schedule import FIELDS
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model import component_rates, grid_rows


def entry_passes(entry: str = "") -> list[PassSpec]:
    """From a user's module to one function of linalg: `entry`, by default the only one that no other calls."""
    return [
        step("lower-tosa"),
        step("inline-calls", **({"entry": entry} if entry else {})),
        step("expand-scatter"),
        step("flatten-open-views"),
    ]


def normalise_passes(
    entry: str = "",
    strides: str = "",
    precision: str = "",
    rates: str = "",
    together: str = "",
    unasked: str = "",
) -> list[PassSpec]:
    """From a user's module to linalg.generic operations on tensors, movement and reshapes folded, chains joined.
    `strides` are those of arguments whose strides are open, as `fix-strides` takes them, `precision` that with which
    products are to be emulated, `rates` those of the chip, as `expand-algebras` takes them, `together` those by which
    `separate-products` multiplies planes together, `unasked` the types of which fewer multiplications may be taken that
    nobody asks for.

    What remains, all in one block of one function: arith.constant, tensor.empty, tile.position, linalg.fill (as the
    start of a reduction), linalg.generic with projected-permutation maps, reshapes at arguments, constants and results
    (or where they could not be absorbed), tensor.extract_slice at constant places, bufferization.to_tensor and
    materialize_in_destination for memref arguments, func.return.
    """
    return [
        *entry_passes(entry),
        step("fix-strides", **({"strides": strides} if strides else {})),
        step("unroll-steps"),
        step("raise-loops"),
        *([step("apply-rewrites")] if extensions.of(Rewrites) else []),
        step("scalar-arguments"),
        step("expand-softmax"),
        step("expand-open-parts"),
        step("name-sizes"),
        step("check-module"),
        upstream("func.func(linalg-generalize-named-ops)"),
        step("raise-to-tensors"),
        step("expand-complex"),
        step("expand-algebras", **({"rates": rates} if rates else {}), **({"unasked": unasked} if unasked else {})),
        step("separate-products", **({"together": together} if together else {})),
        step("separate-zero-points"),
        step("copy-diagonals"),
        step("unfold-windows"),
        step("fold-gathers"),
        step("index-to-operands"),
        upstream("canonicalize,cse"),
        step("simplify-generics"),
        step("clamp-sums-last"),
        step("widen-functions"),
        step("widen-products"),
        step("widen-accumulator"),
        step("drop-unit-dims"),
        step("simplify-generics"),  # what is left of a sum of one element starts from a number
        step("widen-products"),  # of those that loops of one trip kept from being read as products
        step("propagate-reshapes"),
        step("fold-movement"),
        step("add-init-last"),
        step("fold-operands", extensions=True),
        step("online-softmax"),
        step("fuse-elementwise"),
        step("recompute-row-parts"),
        step("fuse-computed-reads"),
        step("move-k-factors"),
        step("move-row-factors"),
        step("fold-operands"),
        step("multiply-integers"),
        step("separate-zero-points"),  # of what frameworks write in floating point
        step("extend-operands"),
        step("fold-movement"),
        step("simplify-generics"),
        upstream("cse"),
        *_emulation(precision),
        step("separate-results"),
    ]


def _emulation(precision: str) -> list[PassSpec]:
    """The passes that emulate a precision: those of the function's own where none is given."""
    given = {"precision": precision} if precision else {}
    return [step("emulate-products", **given), step("multiply-remainders", **given)]


def kernel_passes(grid: str = "") -> list[PassSpec]:
    """From a function on tensors in normal form to kernels on memrefs. `grid` is what blocks that run at the same time
    can hold of a row, as `group-rows` takes it."""
    return [
        step("drop-empty"),
        step("relayout-groups"),
        step("copy-operands"),
        step("copy-results"),
        step("group-kernels"),
        step("group-rows", **({"grid": tuple(map(int, grid.split(",")))} if grid else {})),
        step("compute-gathered"),
        step("outline-kernels"),
        step("normalise-kernels"),
        step("inline-kernel"),
        step("describe-arguments"),
        upstream("cse"),
        step("free-sizes"),
        step("find-symmetry"),
        step("find-triangles"),
        step("find-masks"),
        step("find-sparse"),
        step("interleave-results"),
        step("find-components"),
    ]


def rates_of(source: str, wanted: Mapping[str, Any], target: Target) -> str:
    """The chip's rates as `expand-algebras` takes them, where a source may have elements with components; empty where
    it has none."""
    if not _has_components(source):
        return ""
    precision = str(wanted.get("precision", FIELDS["precision"]))
    return component_rates.as_option(component_rates.operations_per_byte(precision, target), target)


def together_of(source: str, wanted: Mapping[str, Any], target: Target) -> str:
    """The chip's rates of products that read components where they lie, and of others, as `separate-products` takes
    them, where a source may have components in planes: an operation with several results; empty where it has none."""
    if not _SEVERAL.search(source):
        return ""
    precision = str(wanted.get("precision", FIELDS["precision"]))
    rates = component_rates.operations_in_place, component_rates.operations_per_byte
    return component_rates.as_pairs(*(each(precision, target) for each in rates))


def unasked_of(source: str, wanted: Mapping[str, Any], target: Target) -> str:
    """The types of which products of elements with components may have fewer multiplications that nobody asks for:
    those whose sums of components are rounded like any other, at full precision. None where bits must not depend on
    the sizes, nor where the source itself fixes fields."""
    exact = wanted.get("precision", FIELDS["precision"]) == FIELDS["precision"]
    if not _has_components(source) or not exact or wanted.get("batch_invariant") or _FIXED.search(source):
        return ""
    return ",".join(name for name in _UNASKED if name in component_rates.operations_per_byte("full", target))


def _has_components(source: str) -> bool:
    return ALGEBRA in source or "complex<" in source


_UNASKED = ("f32", "f64")
_FIXED = re.compile(r"\b(precision|batch_invariant) *=")
"""In a function's own `tile.schedule`."""
_SEVERAL = re.compile(r"outs\(\s*%[\w.$#-]+\s*,")


def grid_of(source: str, wanted: Mapping[str, Any], target: Target) -> str:
    """How many blocks of the chip run at the same time, what each can hold of a row, and from how many bytes on that
    pays, as `group-rows` takes it, where a source may have long rows: a size of six digits; empty where it has none."""
    return ",".join(map(str, grid_rows.room(target))) if _LONG.search(source) else ""


_LONG = re.compile(r"\d{6}")

CHIP_RATES = (rates_of, together_of, unasked_of, grid_of)
"""What the stage asks about the chip, in the order in which it takes the answers."""


def import_passes(
    entry: str = "",
    strides: str = "",
    precision: str = "",
    rates: str = "",
    together: str = "",
    unasked: str = "",
    grid: str = "",
) -> list[PassSpec]:
    """The whole stage, of the function `entry`, by default the only one that no other calls."""
    return [*normalise_passes(entry, strides, precision, rates, together, unasked), *kernel_passes(grid)]


def translated(source: str) -> str:
    """The source as read by the first registered front end that takes it; the source itself where none does."""
    for each in extensions.of(FrontEnd):
        text = each.read(source)
        if text is not None:
            return text
    return source
