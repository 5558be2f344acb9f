"""The first half of the stage `import`: the passes from what a user wrote to a small normal form on tensors."""

from __future__ import annotations

from typing import Any

from mlir_gemm.passes.registry import Upstream, ours


def normalise_passes(*, keep_f16: bool = False) -> list[Any]:
    """From a user's module to linalg.generic operations on tensors, movement and reshapes folded, chains joined.

    What remains, all in one block of one function: arith.constant, tensor.empty, linalg.fill (as the start of a
    reduction), linalg.generic with projected-permutation maps, reshapes at arguments, constants and results (or where
    they could not be absorbed), tensor.extract_slice and insert_slice from memref.subview, bufferization.to_tensor and
    materialize_in_destination for memref arguments, func.return. `keep_f16` leaves f16 accumulators as they are.
    """
    return [
        ours("name-sizes"),
        ours("check-module"),
        Upstream("func.func(linalg-generalize-named-ops)"),
        ours("raise-to-tensors"),
        Upstream("canonicalize,cse"),
        ours("simplify-generics"),
        ours("widen-accumulator", keep_f16=keep_f16),
        ours("drop-unit-dims"),
        ours("propagate-reshapes"),
        ours("fold-movement"),
        ours("add-init-last"),
        ours("fold-operands", extensions=True),
        ours("fuse-elementwise"),
        ours("fold-operands"),
        ours("extend-operands"),
        ours("fold-movement"),
        ours("simplify-generics"),
        Upstream("cse"),
        ours("separate-results"),
    ]
