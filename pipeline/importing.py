"""The first half of the stage `import`: the passes from what a user wrote to a small normal form on tensors."""

from __future__ import annotations

from typing import Any

from mlir_gemm.passes.registry import Upstream, pass_class


def normalise_passes(*, keep_f16: bool = False) -> list[Any]:
    """From a user's module to linalg.generic operations on tensors, movement and reshapes folded, chains joined.

    What remains, all in one block of one function: arith.constant, tensor.empty, linalg.fill (as the start of a
    reduction), linalg.generic with projected-permutation maps, reshapes at arguments, constants and results (or where
    they could not be absorbed), tensor.extract_slice and insert_slice from memref.subview, bufferization.to_tensor and
    materialize_in_destination for memref arguments, func.return. `keep_f16` leaves f16 accumulators as they are.
    """
    return [
        _ours("name-sizes"),
        _ours("check-module"),
        Upstream("func.func(linalg-generalize-named-ops)"),
        _ours("raise-to-tensors"),
        Upstream("canonicalize,cse"),
        _ours("simplify-generics"),
        _ours("widen-accumulator", keep_f16=keep_f16),
        _ours("drop-unit-dims"),
        _ours("propagate-reshapes"),
        _ours("fold-movement"),
        _ours("add-init-last"),
        _ours("fold-operands", extensions=True),
        _ours("fuse-elementwise"),
        _ours("fold-operands"),
        _ours("extend-operands"),
        _ours("fold-movement"),
        _ours("simplify-generics"),
        Upstream("cse"),
        _ours("separate-results"),
    ]


def _ours(name: str, **options: Any) -> Any:
    return pass_class(name)(**options)
