"""cuBLASLt through ctypes: the algorithms that its own heuristic proposes for a problem, best first.

cuBLASLt counts columns first. A row-major D = A B is its D' = B' A', so its first operand is our B; a matrix that lies
row-major as [rows, columns] is column-major as [columns, rows].
"""

from __future__ import annotations

import ctypes
from ctypes import byref, c_float, c_int8, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any

from mlir_gemm.bench.operands import Operands
from mlir_gemm.bench.problems import Problem

WORKSPACE_BYTES = 32 << 20
"""What NVIDIA recommends for Hopper, and what PyTorch gives it there."""
PROPOSALS = 8
_NAMES = ("libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so")
# cudaDataType_t, cublasComputeType_t and attributes of cublasLt.h.
_TYPES = {"f32": 0, "f64": 1, "f16": 2, "i8": 3, "i32": 10, "bf16": 14, "f8E4M3FN": 28, "f8E5M2": 29}
_COMPUTE = {"tf32": 77, "f64": 70, "s8": 72}
_COMPUTE_F32 = 68
_TRANSPOSE_A, _TRANSPOSE_B, _EPILOGUE, _BIAS_POINTER, _BIAS_TYPE, _FAST_ACCUMULATION = 3, 4, 7, 8, 26, 25
_WORKSPACE_ATTRIBUTE = 1
_EPILOGUE_BIAS = 4


class _Proposal(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""

    _fields_ = (
        ("algorithm", c_uint64 * 8),
        ("workspace", c_size_t),
        ("state", c_int32),
        ("waves", c_float),
        ("reserved", c_int32 * 4),
    )


class UnsupportedError(Exception):
    """cuBLASLt has nothing for a problem, or is not there."""


def supports(problem: Problem) -> str:
    """Why cuBLASLt does not compute the same function, empty if it does."""
    if problem.epilogue in ("none", "bias"):
        return ""
    return f"it fuses no '{problem.epilogue}'{' (its GELU is the form with tanh)' if 'gelu' in problem.steps else ''}"


@dataclass(frozen=True)
class Algorithm:
    """One way to compute a problem."""

    rank: int
    """Place in the heuristic's order, from 0."""
    call: Any
    keep: Any
    """What the call points to."""

    def run(self) -> None:
        """Puts it on PyTorch's current stream."""
        self.call()


class Library:
    """A handle of cuBLASLt with its workspace on the current GPU."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._lt: Any = _load()
        self._handle = c_void_p()
        self._checked(self._lt.cublasLtCreate(byref(self._handle)), "creating a handle")
        self._workspace = torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device="cuda")

    def version(self) -> str:
        """Such as 13.0.2."""
        number = int(self._lt.cublasLtGetVersion())
        return f"{number // 10000}.{number // 100 % 100}.{number % 100}"

    def algorithms(self, operands: Operands) -> list[Algorithm]:
        """What the heuristic proposes, best first. Raises UnsupportedError."""
        problem = operands.problem
        reason = supports(problem)
        if reason:
            raise UnsupportedError(reason)
        operation = self._operation(operands)
        m, n, k = problem.m, problem.n, problem.k
        first = self._layout(problem.element, *((n, k) if problem.layout[1] == "N" else (k, n)))
        second = self._layout(problem.element, *((k, m) if problem.layout[0] == "N" else (m, k)))
        result = self._layout(problem.out, n, m)
        preference = c_void_p()
        self._checked(self._lt.cublasLtMatmulPreferenceCreate(byref(preference)), "creating a preference")
        self._set("MatmulPreference", preference, _WORKSPACE_ATTRIBUTE, c_uint64(WORKSPACE_BYTES))
        proposals = (_Proposal * PROPOSALS)()
        found = c_int32()
        status = self._lt.cublasLtMatmulAlgoGetHeuristic(
            self._handle, operation, first, second, result, result, preference, PROPOSALS, proposals, byref(found)
        )
        usable = [proposals[i] for i in range(found.value) if proposals[i].state == 0]
        if status or not usable:
            raise UnsupportedError(f"its heuristic knows no algorithm (status {status})")
        return [
            self._algorithm(rank, each, operands, (operation, first, second, result))
            for rank, each in enumerate(usable)
        ]

    def _operation(self, operands: Operands) -> c_void_p:
        problem = operands.problem
        operation = c_void_p()
        compute = _COMPUTE.get(problem.dtype, _COMPUTE_F32)
        scale = {"f64": _TYPES["f64"], "s8": _TYPES["i32"]}.get(problem.dtype, _TYPES["f32"])
        self._checked(self._lt.cublasLtMatmulDescCreate(byref(operation), compute, scale), "describing a product")
        for attribute, order in ((_TRANSPOSE_A, problem.layout[1]), (_TRANSPOSE_B, problem.layout[0])):
            self._set("MatmulDesc", operation, attribute, c_int32(order == "T"))
        if problem.dtype == "fp8":
            self._set("MatmulDesc", operation, _FAST_ACCUMULATION, c_int8(1))
        if problem.epilogue == "bias":
            self._set("MatmulDesc", operation, _EPILOGUE, c_uint32(_EPILOGUE_BIAS))
            self._set("MatmulDesc", operation, _BIAS_POINTER, c_uint64(operands.bias.data_ptr()))
            self._set("MatmulDesc", operation, _BIAS_TYPE, c_int32(_TYPES[problem.out]))
        return operation

    def _layout(self, dtype: str, rows: int, columns: int) -> c_void_p:
        layout = c_void_p()
        arguments = (_TYPES[dtype], c_uint64(rows), c_uint64(columns), c_int64(rows))
        self._checked(self._lt.cublasLtMatrixLayoutCreate(byref(layout), *arguments), "describing a matrix")
        return layout

    def _algorithm(self, rank: int, proposal: Any, operands: Operands, parts: tuple[c_void_p, ...]) -> Algorithm:
        operation, first, second, result = parts
        kind: Any = {"f64": ctypes.c_double, "s8": c_int32}.get(operands.problem.dtype, c_float)
        one, zero = kind(1), kind(0)
        a, b, d = (c_void_p(tensor.data_ptr()) for tensor in (operands.a, operands.b, operands.out))
        workspace, size = c_void_p(self._workspace.data_ptr()), c_size_t(proposal.workspace)
        matmul, stream = self._lt.cublasLtMatmul, self._torch.cuda.current_stream
        algorithm = byref(proposal, _Proposal.algorithm.offset)
        alpha, beta = byref(one), byref(zero)

        def call() -> None:
            status = matmul(
                self._handle, operation, alpha, b, first, a, second, beta, d, result, d, result,
                algorithm, workspace, size, c_void_p(stream().cuda_stream),
            )  # fmt: skip
            if status:
                raise UnsupportedError(f"cublasLtMatmul failed with status {status}")

        return Algorithm(rank, call, (proposal, one, zero, operands))

    def _set(self, what: str, of: c_void_p, attribute: int, value: Any) -> None:
        setter = getattr(self._lt, f"cublasLt{what}SetAttribute")
        self._checked(setter(of, attribute, byref(value), c_size_t(ctypes.sizeof(value))), f"attribute {attribute}")

    def _checked(self, status: int, doing: str) -> None:
        if status:
            raise UnsupportedError(f"{doing} failed with status {status}")


def _load() -> Any:
    """The library that PyTorch has loaded, which these names find again."""
    for name in _NAMES:
        try:
            library: Any = ctypes.CDLL(name)
        except OSError:
            continue
        library.cublasLtGetVersion.restype = c_size_t
        return library
    raise UnsupportedError(f"none of {', '.join(_NAMES)} can be loaded")
