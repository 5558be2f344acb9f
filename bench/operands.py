"""Random inputs of a problem as PyTorch tensors, and whether a result is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_gemm.bench.modules import shapes
from mlir_gemm.bench.problems import Problem
from mlir_gemm.spec.element_types import NAMES

SAMPLES = 128
"""Rows and columns that are compared, the first and the last among them."""
BOUNDS = {"f32": 5e-5, "f16": 6e-4, "bf16": 5e-3, "f64": 1e-13, "i32": 0.0}
"""Largest relative Frobenius error, by the result's type: two to three times what one rounding of random numbers gives.
For f32, what the sums of tensor cores give, which round towards zero: 1e-5 at a K of 8192, the vendor's library too."""
TF32_BOUND = 2e-3
LARGEST = 8
"""An element may be wrong by so many times the bound, relative to the largest element. A single wrong element hardly
moves the Frobenius error, but is off by about a sixth of the largest."""
_POISON = -1_515_870_811
"""Of results that have no NaN."""


@dataclass(frozen=True)
class Operands:
    """The tensors of one problem; A and B lie in memory as its layout says."""

    problem: Problem
    a: Any
    b: Any
    bias: Any
    factor: Any
    """The matrix that the product is multiplied by, element by element."""
    out: Any

    @property
    def inputs(self) -> list[Any]:
        """In the order of the module's arguments."""
        return [tensor for tensor in (self.a, self.b, self.bias, self.factor) if tensor is not None]

    @property
    def matrices(self) -> tuple[Any, Any]:
        """A as [M, K] and B as [K, N], views of what lies in memory."""
        a = self.a if self.problem.layout[0] == "N" else self.a.T
        return a, self.b if self.problem.layout[1] == "N" else self.b.T


@dataclass(frozen=True)
class Verdict:
    """How far a result is from the reference."""

    error: float
    """Relative Frobenius error of the sampled rows and columns, the larger one."""
    largest: float
    """Largest error of an element, relative to the largest element."""
    written: bool
    """No element still held what was there before the run."""
    right: bool


def draw(problem: Problem, torch: Any, device: str = "cuda", seed: int = 0) -> Operands:
    """Normal numbers, integers from -8 to 7 for s8. B is scaled for results near 1, as activations expect them; not for
    fp8, whose smallest numbers are too large for that."""
    generator = torch.Generator(device).manual_seed(seed)
    made: dict[str, Any] = {}
    for name, shape, dtype in shapes(problem):
        kind = getattr(torch, NAMES[dtype])
        if dtype == "i8":
            made[name] = torch.randint(-8, 8, shape, generator=generator, device=device, dtype=kind)
            continue
        wide = torch.float64 if dtype == "f64" else torch.float32
        values = torch.randn(shape, generator=generator, device=device, dtype=wide)
        made[name] = (values * problem.k**-0.5 if name == "B" and problem.dtype != "fp8" else values).to(kind)
    out = torch.empty((problem.m, problem.n), dtype=getattr(torch, NAMES[problem.out]), device=device)
    return Operands(problem, made["A"], made["B"], made.get("bias"), made.get("S"), out)


def apply(steps: tuple[str, ...], product: Any, bias: Any, factor: Any, torch: Any) -> Any:
    """The epilogue in PyTorch."""
    for step in steps:
        if step == "bias":
            product = product + bias
        elif step == "mul":
            product = product * factor
        else:
            product = (torch.nn.functional.gelu if step == "gelu" else torch.nn.functional.silu)(product)
    return product


def poison(out: Any) -> None:
    """Fills a result with values that no product gives."""
    out.fill_(float("nan") if out.is_floating_point() else _POISON)


def check(operands: Operands, result: Any, torch: Any) -> Verdict:
    """Compares sampled rows and columns with float64, and looks for elements that were not written."""
    problem = operands.problem
    written = bool(result.isfinite().all()) if result.is_floating_point() else not bool((result == _POISON).any())
    bound = TF32_BOUND if problem.dtype == "tf32" else BOUNDS[problem.out]
    errors, largest = [0.0], [0.0]
    for axis, count in enumerate((problem.m, problem.n)):
        chosen = _sample(count, result.device, torch)
        wanted = _reference(operands, axis, chosen, torch)
        found = result.index_select(axis, chosen).double()
        size, extent = torch.linalg.norm(wanted), wanted.abs().max()
        errors.append(float(torch.linalg.norm(found - wanted) / size.clamp(min=1e-300)))
        largest.append(float((found - wanted).abs().max() / extent.clamp(min=1e-300)))
    error, furthest = _worst(errors), _worst(largest)
    return Verdict(error, furthest, written, written and error <= bound and furthest <= LARGEST * bound)


def _worst(values: list[float]) -> float:
    """The largest, and NaN if one of them is (`max` would depend on the order)."""
    return next((value for value in values if value != value), max(values))


def _sample(count: int, device: Any, torch: Any) -> Any:
    if count <= SAMPLES:
        return torch.arange(count, device=device)
    chosen = torch.randperm(count, device=device)[:SAMPLES]
    chosen[0], chosen[1] = 0, count - 1
    return chosen


def _reference(operands: Operands, axis: int, chosen: Any, torch: Any) -> Any:
    """The rows (axis 0) or columns (axis 1) of the result in float64."""
    a, b = (_double(matrix, torch) for matrix in operands.matrices)
    bias = None if operands.bias is None else operands.bias.double()
    factor = None if operands.factor is None else operands.factor.index_select(axis, chosen).double()
    if axis == 0:
        return apply(operands.problem.steps, a[chosen] @ b, bias, factor, torch)
    bias = None if bias is None else bias[chosen]
    return apply(operands.problem.steps, a @ b[:, chosen], bias, factor, torch)


def _double(tensor: Any, torch: Any) -> Any:
    """In float64; by way of f32 for bytes, since not every type of one byte has the direct way."""
    return (tensor.to(torch.float32) if tensor.element_size() == 1 else tensor).double()
