"""The stage `import`: the passes from what a user wrote to kernels on memrefs (docs/inputs.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from mlir_gemm.spec import extensions
from mlir_gemm.spec.attributes import ALGEBRA, SPARSE, STAND_INS
from mlir_gemm.spec.extension_points import FrontEnd, PassAt, Rewrites
from mlir_gemm.spec.passes import PassSpec, step, upstream
from mlir_gemm.spec.schedule import FIELDS
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model import component_rates, grid_rows

ChipOptions = Mapping[str, Mapping[str, Any]]
"""Options of passes, by the passes' names."""


def entry_passes(entry: str = "") -> list[PassSpec]:
    """From a user's module to one function of linalg: `entry`, by default the only one that no other calls."""
    return [
        step("lower-tosa"),
        step("inline-calls", **({"entry": entry} if entry else {})),
        step("expand-scatter"),
        step("flatten-open-views"),
    ]


def normalise_passes(
    entry: str = "", strides: str = "", precision: str = "", chip: ChipOptions | None = None
) -> list[PassSpec]:
    """From a user's module to linalg.generic operations on tensors, movement and reshapes folded, chains joined.
    `strides` are those of arguments whose strides are open, as `fix-strides` takes them, `precision` that with which
    products are to be emulated, `chip` what passes are told about the chip (`chip_options`).

    What remains, all in one block of one function: arith.constant, tensor.empty, tile.position, linalg.fill (as the
    start of a reduction), linalg.generic with projected-permutation maps, reshapes at arguments, constants and results
    (or where they could not be absorbed), tensor.extract_slice at constant places, bufferization.to_tensor and
    materialize_in_destination for memref arguments, func.return.
    """
    chip = chip or {}
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
        *(step(name, **chip.get(name, {})) for name in ("expand-algebras", "separate-products")),
        step("separate-zero-points"),
        step("move-slices"),
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


def kernel_passes(chip: ChipOptions | None = None) -> list[PassSpec]:
    """From a function on tensors in normal form to kernels on memrefs; `chip` as in `normalise_passes`."""
    return [
        step("drop-empty"),
        step("relayout-groups"),
        step("copy-operands"),
        step("copy-results"),
        step("group-kernels"),
        step("group-rows", **(chip or {}).get("group-rows", {})),
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


def chip_options(source: str, wanted: Mapping[str, Any], target: Target) -> dict[str, dict[str, Any]]:
    """What passes are told about the chip, by their names, where a source has elements with components: its rates as
    `expand-algebras` takes them, and the types of which there may be fewer multiplications that nobody asks for; and
    where it may have components in planes (an operation with several results), the rates of products that read
    components where they lie, and of others, as `separate-products` takes them. Where it may have long rows (a size of
    six digits), what blocks that run at the same time can hold of a row, as `group-rows` takes it."""
    precision = str(wanted.get("precision", FIELDS["precision"]))
    found: dict[str, dict[str, Any]] = {}
    if _LONG.search(source):
        found["group-rows"] = {"grid": grid_rows.room(target)}
    if _has_components(source):
        rates = component_rates.operations_per_byte(precision, target)
        options = {"rates": component_rates.as_option(rates, target), "unasked": _unasked(source, wanted, target)}
        found["expand-algebras"] = {name: text for name, text in options.items() if text}
    if _SEVERAL.search(source):
        in_place = component_rates.operations_in_place(precision, target)
        apart = component_rates.operations_per_byte(precision, target)
        together = component_rates.as_pairs(in_place, apart, target)
        found["separate-products"] = {"together": together} if together else {}
    return found


def _unasked(source: str, wanted: Mapping[str, Any], target: Target) -> str:
    """The types whose sums of components are rounded like any other, at full precision. None where bits must not depend
    on the sizes, nor where the source itself fixes fields."""
    exact = wanted.get("precision", FIELDS["precision"]) == FIELDS["precision"]
    if not exact or wanted.get("batch_invariant") or _FIXED.search(source):
        return ""
    return ",".join(name for name in _UNASKED if name in component_rates.operations_per_byte("full", target))


def _has_components(source: str) -> bool:
    return ALGEBRA in source or "complex<" in source


_UNASKED = ("f32", "f64")
_FIXED = re.compile(r"\b(precision|batch_invariant) *=")
"""In a function's own `tile.schedule`."""
_LONG = re.compile(r"\d{6}")
_SEVERAL = re.compile(r"outs\(\s*%[\w.$#-]+\s*,")


def import_passes(
    entry: str = "", strides: str = "", precision: str = "", chip: ChipOptions | None = None
) -> list[PassSpec]:
    """The whole stage, of the function `entry`, by default the only one that no other calls."""
    return [*normalise_passes(entry, strides, precision, chip), *kernel_passes(chip)]


_COMPUTED = (
    r"[+*?]|-(?!>)|tensor\.(extract|pad|concat|insert)|conv|pool|\b(mod|floordiv|ceildiv|scf|affine|tm_tensor)\b"
    rf"|linalg\.index|subview|complex|{ALGEBRA}"
)
"""What is read or written at computed places, or may be after loops and other parts have been expanded."""
_COMMENT = re.compile(r"^ *//.*$", re.MULTILINE)
_WORK = {
    "expand-scatter": r"tm_tensor\.", "flatten-open-views": r"\?", "unroll-steps": r"\b(scf|affine)\.",
    "raise-loops": r"\b(scf|affine)\.|memref\.store", "expand-softmax": "softmax",
    "expand-open-parts": r"\?", "name-sizes": rf"\?|{STAND_INS}", "free-sizes": rf"\?|{STAND_INS}",
    "expand-complex": "complex", "expand-algebras": f"complex|{ALGEBRA}", "move-slices": "extract|subview",
    "copy-diagonals": _COMPUTED, "unfold-windows": _COMPUTED, "fold-gathers": _COMPUTED, "lower-tosa": r"tosa\.",
    "online-softmax": "exp|softmax", "find-sparse": SPARSE, "emulate-products": "precision",
    "multiply-remainders": "precision",
}  # fmt: skip
"""What the text of a source has somewhere if one of these passes has anything to do or to refuse."""


def with_work(passes: Sequence[PassSpec], source: str) -> list[PassSpec]:
    """The passes of this stage without those that leave a source, given as text, alone: they are not even loaded. All
    of them where operations may come that the text does not name: of tosa, and by rules that are registered."""
    if "tosa." in source or extensions.of(Rewrites) or extensions.of(PassAt):
        return list(passes)
    source = _COMMENT.sub("", source)
    return [each for each in passes if each.options or each.name not in _WORK or re.search(_WORK[each.name], source)]


def passes_for(
    source: str, wanted: Mapping[str, Any], target: Target, entry: str = "", strides: str = "", precision: str = ""
) -> list[PassSpec]:
    """The passes of the stage that have anything to do for a source, with what they are told about the chip unless a
    precision is emulated; `wanted` are the fields that are fixed."""
    chip = {} if precision else chip_options(source, wanted, target)
    return with_work(import_passes(entry, strides, precision, chip), source)


def translated(source: str) -> str:
    """The source as read by the first registered front end that takes it; the source itself where none does."""
    for each in extensions.of(FrontEnd):
        text = each.read(source)
        if text is not None:
            return text
    return source
