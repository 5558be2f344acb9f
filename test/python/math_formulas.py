"""What `expand-math` and `expand-fp8` make of a formula, evaluated in NumPy for arrays in place of its numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.dialect.walk import body, named
from mlir_gemm.pipeline.registry import parse_pass
from mlir_gemm.pipeline.runner import Runner
from mlir_gemm.simulator.fused import multiply_add
from mlir_gemm.spec.eight_bit_floats import MLIR_NAMES

TYPES: dict[str, Any] = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "i1": np.bool_, "i8": np.int8, "i16": np.int16,
    "i32": np.int32, "i64": np.int64, "index": np.int64, **dict.fromkeys(MLIR_NAMES, np.int8),
}  # fmt: skip


def kernel(text: str, passes: tuple[str, ...] = ("expand-math",)) -> Any:
    module = parse_module(f"gpu.module @kernels {{ {text} }}", "-", new_context())
    for name in passes:
        Runner().run(module, [parse_pass(name)])
    return module


def unary(operation: str, before: str, after: str | None = None, conversion: str = "") -> Any:
    """A kernel that stores `operation` of its argument."""
    after = after or before
    tail = f"{before} to {after}" if operation.startswith("arith.") else before
    return kernel(
        f"gpu.func @f(%x: {before}, %o: memref<1x{after}>) kernel {{ %c = arith.constant 0 : index "
        f"%r = {operation} %x : {tail} memref.store %r, %o[%c] : memref<1x{after}> gpu.return }}",
        ("expand-fp8", "expand-math"),
    )


def evaluate(module: Any, *arguments: Any) -> Any:
    """What the kernel stores, for arrays in place of its numbers."""
    function = named(module, "gpu.func")[0]
    values: dict[Any, Any] = dict(zip(body(function).arguments, arguments, strict=False))
    with np.errstate(all="ignore"):
        return _run(body(function), values)[0]


def _run(block: Any, values: dict[Any, Any]) -> list[Any]:
    """What a block stores or yields."""
    for operation in block.operations:
        op = operation.operation
        if op.name == "memref.store":
            return [values[op.operands[0]]]
        if op.name == "scf.yield":
            return [values[operand] for operand in op.operands]
        results = [_value(op, [values[operand] for operand in op.operands])] if not op.regions else _nested(op, values)
        values.update(zip(op.results, results, strict=True))
    raise AssertionError("nothing is stored")


def _nested(op: Any, values: dict[Any, Any]) -> list[Any]:
    """A branch takes both ways, and each number what its own condition says; a loop runs as often as any needs."""
    first = values[op.operands[0]]
    if op.name == "scf.if":
        ways = [_run(region.blocks[0], values) for region in op.regions]
        return [np.where(first, then, otherwise) for then, otherwise in zip(*ways, strict=True)]
    assert op.name == "scf.for"
    inner, carried = op.regions[0].blocks[0], [values[operand] for operand in op.operands[3:]]
    for _ in range(int(np.max(values[op.operands[1]]))):
        values.update(zip(list(inner.arguments)[1:], carried, strict=True))
        carried = _run(inner, values)
    return carried


def _value(op: Any, x: list[Any]) -> Any:
    name, type_ = op.name, str(op.results[0].type)
    dtype = TYPES[type_]
    if name == "arith.constant":
        return np.asarray(op.attributes["value"].value).astype(dtype)
    if name in ("arith.cmpf", "arith.cmpi"):
        compare = _COMPARE[name[-1]][op.attributes["predicate"].value]
        return compare(*x)
    if name == "arith.bitcast":
        return np.asarray(x[0]).view(dtype)
    if name == "math.fma":
        return _fma(*x)
    if name in _UNSIGNED:
        return _UNSIGNED[name](*(each.view(f"u{each.dtype}") for each in x)).astype(f"u{np.dtype(dtype)}").view(dtype)
    return np.asarray(_FUNCTIONS[name](*x)).astype(dtype)


def _fma(a: Any, b: Any, c: Any) -> Any:
    if a.dtype == np.float32:  # the product is exact in f64
        return (a.astype(np.float64) * b + c).astype(np.float32)
    return multiply_add(a, b, c)


_UNSIGNED: dict[str, Callable[..., Any]] = {
    "arith.shrui": np.right_shift, "arith.remui": np.remainder, "arith.divui": np.floor_divide,
    "arith.extui": lambda x: x,
}  # fmt: skip
_COMPARE: dict[str, dict[int, Callable[..., Any]]] = {
    "f": {1: np.equal, 2: np.greater, 3: np.greater_equal, 4: np.less, 5: np.less_equal, 13: np.not_equal},
    "i": {0: np.equal, 1: np.not_equal, 2: np.less, 3: np.less_equal, 4: np.greater, 5: np.greater_equal},
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide,
    "arith.negf": np.negative, "arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or, "arith.shli": np.left_shift, "arith.shrsi": np.right_shift, "arith.select": np.where,
    "arith.sitofp": lambda x: x, "arith.extf": lambda x: x, "arith.truncf": lambda x: x, "arith.trunci": lambda x: x,
    "arith.index_cast": lambda x: x,
    "math.absf": np.abs, "math.sqrt": np.sqrt, "math.copysign": np.copysign, "math.floor": np.floor,
    "math.exp2": lambda x: np.exp2(x.astype(np.float64)),
}  # fmt: skip
