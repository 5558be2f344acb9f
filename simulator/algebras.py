"""Products by other algebras than that of numbers (`spec/algebra.py`), on whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.dialect import algebras
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import in_block
from mlir_gemm.simulator.tile_numbers import FUNCTIONS, dtype_of
from mlir_gemm.simulator.tile_program import Function
from mlir_gemm.spec.algebra import Algebra


def combiner(algebra: Algebra, element: Any, location: Any) -> Function:
    """What an algebra makes of arrays of `a`, `b` and `c`, whose shapes NumPy broadcasts."""
    with location:
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            holder = ir.Operation.create("builtin.module", regions=1)
        block = holder.regions[0].blocks.append(element, element, element)
        with ir.InsertionPoint(block):
            result = algebras.build(algebra, *block.arguments)
    dtype = dtype_of(element, holder)
    steps: list[tuple[Function, list[Any], Any]] = []
    values: dict[Any, Any] = {}
    for each in in_block(block):
        op = each.operation
        if op.name == "arith.constant":
            values[op.results[0]] = dtype.type(op.attributes["value"].value)
        else:
            steps.append((FUNCTIONS[op.name](each), list(op.operands), op.results[0]))

    def combine(a: Any, b: Any, c: Any, _module: Any = module) -> Any:  # whose operations must live as long
        known = {**values, **dict(zip(block.arguments, (a, b, c), strict=True))}
        for function, operands, made in steps:
            known[made] = function(*(known[value] for value in operands))
        return np.asarray(known[result], dtype)

    return combine


def combined(combine: Function, left: Any, right: Any, acc: Any) -> Any:
    """acc[M, N] combined with every k of left[M, K] and right[K, N], in order, in the accumulator's type."""
    left, right = np.asarray(left).astype(acc.dtype), np.asarray(right).astype(acc.dtype)
    for k in range(left.shape[1]):
        acc = combine(left[:, k : k + 1], right[k : k + 1, :], acc)
    return acc
