"""The compiler's own attributes on operations of other dialects: on which operations they may be, and with which
values.

MLIR verifies operations, but lets only dialects written in C++ verify attributes on other dialects' operations. So a
walk of our own checks the attributes: when saved text or the input of `opt` is read, after each pass of `opt`, and
after each stage of `compile`.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import algebra_marks, rules, zero_marks
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.grid_exchange import WORDS
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.memory import in_shared
from mlir_gemm.dialect.rings import BARRIERS, PAD, PANELS
from mlir_gemm.dialect.stream_k import FLAGS, PARTIALS
from mlir_gemm.dialect.verifier import FLAG, NUMBERS, Kind, at_least, between, is_number, word
from mlir_gemm.spec import attributes as names
from mlir_gemm.spec import former_names, part_names
from mlir_gemm.spec.emulation import EMULATIONS
from mlir_gemm.spec.kernel_record import ELEMENTWISE, PRODUCT, REDUCTION, ROWS
from mlir_gemm.spec.rows import MOST_GRID
from mlir_gemm.spec.stages import ALL_STAGES

OWN = "tile."
"""What the names of the compiler's attributes start with."""
ARGUMENT = "an argument"
_MODULE, _FUNCTION, _KERNEL = "builtin.module", "func.func", ("gpu.func", "llvm.func")
_ALLOC, _BLOCKS = "memref.alloc", "scf.forall"
_BUFFER = _ALLOC, "memref.view"
"""A buffer of its own, and what `place-shared` makes of it."""
RESULT = "a result"
_SIGNATURE = {"arg_attrs": ARGUMENT, "res_attrs": RESULT}
"""Attributes of functions that hold those of their arguments and results."""


@dataclass(frozen=True)
class Mark:
    """Where one attribute may be, and with which values."""

    kind: Kind
    on: tuple[str, ...]
    """Operations, or all of a dialect, or arguments of functions."""
    shared: bool = False
    """Whether it says something of a buffer in shared memory."""


_LAYOUT = re.compile(rf"{PAD}|xor|{'|'.join(PANELS)}|{BARRIERS}")


def is_layout(text: str) -> bool:
    """Whether `tile.layout` may say so: one of the dialect's own layouts, or the name of one that is registered."""
    return bool(_LAYOUT.fullmatch(text)) or text in part_names.added("layout")


def _dictionary(example: str, numbers: bool = False) -> Kind:
    def accepts(attribute: Any) -> bool:
        return isinstance(attribute, ir.DictAttr) and (not numbers or all(is_number(each.attr) for each in attribute))

    return Kind(accepts, f"a dictionary{' of numbers' if numbers else ''} such as {example}")


def _is_text(attribute: Any) -> bool:
    return isinstance(attribute, ir.StringAttr)


_TEXT = Kind(_is_text, "a string")
_TEXTS = Kind(lambda given: isinstance(given, ir.ArrayAttr) and all(map(_is_text, given)),
              'a string for each dimension, such as ["s0", ""]')  # fmt: skip
_MESSAGES = Kind(_TEXTS.accepts, 'strings such as ["index must be smaller than dim size"]')
_REASONS = Kind(lambda given: isinstance(given, ir.DictAttr) and all(_is_text(each.attr) for each in given),
                'a dictionary of strings such as {main_0 = "why"}')  # fmt: skip
_SIZES = _dictionary("{s0 = 16 : i64}", numbers=True)
_FIELDS = _dictionary("{block = [128, 128, 64]}")
_PADDING = Kind(lambda given: _is_text(given) and is_layout(given.value),
                f'"padN" for N more elements in each row, "xor", {", ".join(map(repr, PANELS))} or "{BARRIERS}"'
                .replace("'", '"'))  # fmt: skip

_ALGEBRA = Kind(algebra_marks.is_mark, "the name of an algebra, or {constants = dense<...> : tensor<2x2x2xf64>}")
_LAID_OUT = Kind(
    lambda given: isinstance(given, ir.StringAttr) and re.fullmatch(r"\d+ (kn|nk)( planes)?", given.value) is not None,
    'components of an element and the order of elements, such as "2 kn" or "2 kn planes"',
)

MARKS = {
    names.STAGE: Mark(word(*ALL_STAGES), (_MODULE,)),
    names.CHIP: Mark(_TEXT, (_MODULE,)),
    names.NOTE: Mark(_TEXT, (_MODULE, "linalg")),
    names.CUTS: Mark(_REASONS, (_MODULE, "linalg")),
    names.STAND_INS: Mark(_SIZES, (_MODULE,)),
    names.KIND: Mark(word(PRODUCT, ELEMENTWISE, REDUCTION, ROWS), (_FUNCTION,)),
    names.ROWS: Mark(_dictionary("{threads = 256, across = 128, ...}"), (_FUNCTION,)),
    names.SCHEDULE: Mark(_FIELDS, (_FUNCTION,)),
    names.PROBLEM: Mark(_dictionary("{m = 64, n = 64, k = 64, ...}"), (_FUNCTION,)),
    names.SPLIT_K_WORKSPACE: Mark(at_least(2), (_FUNCTION,)),
    names.DIVISORS: Mark(_SIZES, (_FUNCTION,)),
    names.HINTS: Mark(_SIZES, (_FUNCTION,)),
    names.REFERENCE: Mark(_TEXT, (_FUNCTION,)),
    names.LAUNCH_WITH: Mark(_dictionary('{kernel = "main_0", threads = 128}'), (_FUNCTION,)),
    names.JOINED: Mark(_MESSAGES, (_FUNCTION,)),
    names.NAME: Mark(_TEXT, (ARGUMENT,)),
    names.CHECKS: Mark(_TEXTS, (ARGUMENT,)),
    names.LEAST: Mark(_TEXTS, (ARGUMENT,)),
    names.MOST: Mark(_TEXTS, (ARGUMENT,)),
    names.SCALAR: Mark(FLAG, (ARGUMENT,)),
    names.OPEN_STRIDES: Mark(FLAG, (ARGUMENT,)),
    names.ROLE: Mark(word("in", "out", "inout", "result"), (ARGUMENT,)),
    names.COMPLEX: Mark(FLAG, (ARGUMENT, RESULT)),
    names.EMULATED: Mark(word(*EMULATIONS), ("linalg",)),
    names.ALGEBRA: Mark(_ALGEBRA, ("linalg",)),
    names.SYMMETRIC: Mark(FLAG, (ARGUMENT, RESULT, _FUNCTION)),
    names.TRIANGULAR: Mark(word("lower", "upper"), (ARGUMENT,)),
    names.LAID_OUT: Mark(_LAID_OUT, (ARGUMENT,)),
    names.SPARSE: Mark(word("2:4"), (ARGUMENT,)),
    names.BANDED: Mark(zero_marks.BAND, (ARGUMENT,)),
    names.BLOCK_DIAGONAL: Mark(zero_marks.BLOCK, (ARGUMENT,)),
    names.BLOCKS: Mark(zero_marks.BLOCKS_LISTED, (ARGUMENT,)),
    names.ZEROS: Mark(zero_marks.ZEROS, (_FUNCTION,)),
    names.MASKED: Mark(zero_marks.MASKED, (_FUNCTION,)),
    names.PADDED: Mark(NUMBERS, (ARGUMENT,)),
    names.SYMBOLS: Mark(_TEXTS, (ARGUMENT, _ALLOC, "tile.position", "tile.windows")),
    names.STRIDES: Mark(_TEXTS, (ARGUMENT, _ALLOC)),
    names.OFFSET: Mark(_TEXT, (ARGUMENT,)),
    names.KERNEL: Mark(at_least(0), ("linalg",)),
    names.APART: Mark(FLAG, ("linalg",)),
    names.LEVEL: Mark(word("block", "k", "point", "warp_k"), ("affine.for", "scf.for")),
    names.LAYOUT: Mark(_PADDING, _BUFFER, shared=True),
    names.UNTIL_REDUCTION: Mark(FLAG, (_ALLOC,), shared=True),
    names.FROM_REDUCTION: Mark(FLAG, (_ALLOC,), shared=True),
    names.SCRATCH: Mark(word(PARTIALS, FLAGS, WORDS), (_ALLOC,)),
    names.CLUSTER: Mark(rules.BLOCKS, (_BLOCKS,)),
    names.COOPERATIVE: Mark(between(2, MOST_GRID), (_BLOCKS, *_KERNEL)),
    names.SPLIT_K_CLUSTER: Mark(rules.BLOCKS, (_BLOCKS,)),
    names.CLUSTER_ROWS: Mark(rules.BLOCKS, (_BLOCKS,)),
    names.WARPS: Mark(rules.WARPS, (_BLOCKS,)),
    names.PING_PONG: Mark(between(1, 2), (_BLOCKS,)),
    names.TILES: Mark(FLAG, ("scf.for",)),
    names.PART: Mark(FLAG, ("scf.for",)),
    names.COMMIT: Mark(FLAG, ("nvgpu.device_async_create_group",)),
    names.MAPS: Mark(NUMBERS, _KERNEL),
    names.DEPENDENT_LAUNCH: Mark(FLAG, _KERNEL),
    names.ASSERTS: Mark(_MESSAGES, (_FUNCTION,)),
}


def verify_attributes(module: Any) -> None:
    """Raises InputError for an attribute of the compiler that is not known, is on an operation where it has no meaning,
    or has an invalid value."""
    found: list[tuple[Any, str]] = []

    def look(op: Any) -> Any:
        try:
            given = list(op.attributes)
        except RuntimeError:  # raised by the bindings
            found.append((op, "an attribute whose name is no UTF-8 text"))
            return ir.WalkResult.INTERRUPT
        for name in given:
            if name.startswith(OWN) or name in _SIGNATURE:
                reason = _wrong_in(op, name)
                if reason:
                    found.append((op, reason))
                    return ir.WalkResult.INTERRUPT
        return ir.WalkResult.ADVANCE

    module.operation.walk(look, ir.WalkOrder.PRE_ORDER)
    if found:
        error = input_error(*found[0])
        kernel = _kernel_of(found[0][0])
        error.notes = (f"in the kernel '{kernel}'",) if kernel else ()
        raise error


def _kernel_of(op: Any) -> str:
    """The name of the kernel that an operation of a program belongs to: of a module in the module. Empty for others."""
    op, name = op.operation, ""
    while op.parent is not None:
        if op.name == _MODULE and "sym_name" in op.attributes:
            name = ir.StringAttr(op.attributes["sym_name"]).value
        op = op.parent
    return name


def unknown(name: str) -> str:
    """What is wrong with the name of an attribute; empty for a known one."""
    if name in MARKS:
        return ""
    if name in former_names.ATTRIBUTES:
        return f"the attribute '{name}' is now called '{former_names.ATTRIBUTES[name]}'"
    (close,) = difflib.get_close_matches(name, MARKS, n=1, cutoff=0)
    return f"'{name}': the compiler has no attribute of that name; did you mean '{close}'?"


def _wrong_in(op: Any, name: str) -> str:
    attribute = op.attributes[name]
    if name not in _SIGNATURE:
        return _wrong(op, name, attribute, op.name)
    each = (given for given in ir.ArrayAttr(attribute) for given in ir.DictAttr(given))
    reasons = (_wrong(op, given.name, given.attr, _SIGNATURE[name]) for given in each if given.name.startswith(OWN))
    return next(filter(None, reasons), "")


def _wrong(op: Any, name: str, attribute: Any, where: str) -> str:
    if reason := unknown(name):
        return reason
    mark = MARKS[name]
    if where not in mark.on and where.partition(".")[0] not in mark.on:
        here = where if where in _SIGNATURE.values() else f"'{where}'"
        return f"'{name}' on {here}; expected it on {' or '.join(mark.on)}"
    if not mark.kind.accepts(attribute):
        return f"'{name}' is {attribute}; expected {mark.kind.wanted}"
    if mark.shared and not in_shared(op.results[0]):
        return f"'{name}' on a buffer of {op.results[0].type}; expected one in memory space 3"
    return ""
