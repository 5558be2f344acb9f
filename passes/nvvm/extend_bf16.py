"""extend-bf16: bf16 become f32 two at a time, by a shift and a mask of the word that holds both.

Expects kernel functions. Leaves, for each arith.extf of a vector of one dimension with an even number of bf16 to f32,
the words of the vector moved up by 16 bits, those with their lower half cleared, and both as f32, in turn: a bf16 is
the upper half of an f32, so that all bits are the same, a NaN's too. On sm_90 `cvt.f32.bf16` takes two instructions of
an upper half: it is moved down first. Conversions whose results go to a maximum or a minimum stay, which LLVM finds
in bf16, two at a time, as do others. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import named, users
from mlir_gemm.passes.base import Pass

HALF, WORD = 16, 32
UPPER = -1 << HALF
"""The upper half of a word."""
EXTREMES = ("arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf")
HANDED_ON = ("arith.select", "vector.extract", "vector.from_elements", "scf.yield")
"""What gives a number on as it is."""


@dataclass(frozen=True)
class ExtendBf16(Pass):
    """Extend bf16 to f32 two at a time."""

    name: ClassVar[str] = "extend-bf16"

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            for extension in [op.operation for op in named(kernel, "arith.extf")]:
                if not _is_of_pairs(extension) or _goes_to_extreme(extension.results[0], set()):
                    continue
                with ir.InsertionPoint(extension), extension.location:
                    made = _extended(extension.operands[0], extension.results[0].type)
                extension.results[0].replace_all_uses_with(made)
                extension.erase()


def _is_of_pairs(extension: Any) -> bool:
    source, target = extension.operands[0].type, extension.results[0].type
    if not isinstance(source, ir.VectorType) or source.rank != 1 or source.shape[0] % 2:
        return False
    return str(source.element_type) == "bf16" and str(target.element_type) == "f32"


def _goes_to_extreme(value: Any, seen: set[Any]) -> bool:
    for user in users(value):
        if user.name in EXTREMES:
            return True
        if user.name not in HANDED_ON or user in seen:
            continue
        seen.add(user)
        results = user.parent.results if user.name == "scf.yield" else user.results
        if any(_goes_to_extreme(result, seen) for result in results):
            return True
    return False


def _extended(value: Any, type_: Any) -> Any:
    arith, vector = dialect("arith"), dialect("vector")
    count = type_.shape[0] // 2
    word = ir.IntegerType.get_signless(WORD)
    words = vector.BitCastOp(ir.VectorType.get([count], word), value).result
    by, mask = (constants.splat(words.type, ir.IntegerAttr.get(word, number)) for number in (HALF, UPPER))
    numbers = ir.VectorType.get([count], type_.element_type)
    lower = arith.BitcastOp(numbers, arith.ShLIOp(words, by).result).result
    upper = arith.BitcastOp(numbers, arith.AndIOp(words, mask).result).result
    in_turn = [place for number in range(count) for place in (number, count + number)]
    return vector.ShuffleOp(lower, upper, in_turn).result
