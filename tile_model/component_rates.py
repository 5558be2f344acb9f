"""How fast a chip multiplies each type beside its memory: what fewer multiplications of elements with components are
worth (`spec/bilinear_plans.py`)."""

from __future__ import annotations

from mlir_gemm.parts.registry import mmas_on
from mlir_gemm.spec.bilinear_plans import LAUNCH
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.relayout import STARTED

_SUMS = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64", "i8": "i32"}
_REACHED = 0.74
"""Part of the bandwidth that kernels reach which rearrange components, around the three products of complex128 at
4096^3: 657 us less than by kernels that reached 0.46, where 2.4 GB move (H100). Alone they reach 0.97 (44 us for 0.13
GB, 2026-11-28-h100-composite-kernels.txt)."""
_BY_PRODUCTS = 0.46
"""The same of products that read and write planes: with it what was measured of them comes out, that one product pays
for f32 and f64 at 512^3 and not for tf32 at 1024^3 (108 us for 47, H200 and H100)."""
_ATTAINED = 0.72
"""Part of their peak that large products reach: 0.68 by tf32, 0.70 in f16, 0.72 in f32, 0.79 in f64 at 4096^3 (H200,
the same file and 2026-11-27-h200-composite.json.xz)."""
_SIZE = 4096
"""A product of tiles enough for any mma."""


def operations_per_byte(precision: str, target: Target) -> dict[str, float]:
    """Operations of the fastest mma of a chip, at a precision, in the time in which a kernel that rearranges components
    moves a byte; by the type of the operands."""
    found = {element: _fastest(element, precision, target) for element in _SUMS}
    return {element: rate for element, rate in found.items() if rate}


def operations_in_place(precision: str, target: Target) -> dict[str, float]:
    """The same of the fastest mma that reads components where they lie, for floating-point numbers."""
    found = {element: _fastest(element, precision, target, composites=True) for element in _SUMS if element[0] != "i"}
    return {element: rate for element, rate in found.items() if rate}


def _fastest(element: str, precision: str, target: Target, composites: bool = False) -> float:
    acc = _SUMS[element]
    problem = Problem(_SIZE, _SIZE, _SIZE, element, element, acc, acc, False)
    able = [mma for mma in mmas_on(target) if mma.forms_of(problem, precision, target)]
    rates = [mma.rate(problem, target) for mma in able if mma.composites or not composites]
    return max(rates, default=0) * target.clock_hz * target.sms / (_REACHED * target.dram_bytes_s)


def as_option(rates: dict[str, float], target: Target) -> str:
    """The rates that large products reach, and the bytes of a launch, as `expand-algebras` takes them."""
    attained = {name: _ATTAINED * rate for name, rate in rates.items()}
    attained[LAUNCH] = launch_bytes(target)
    return ",".join(f"{name}:{rate:.3g}" for name, rate in attained.items())


def as_pairs(together: dict[str, float], apart: dict[str, float], target: Target) -> str:
    """Both rates of each type, and the bytes of a launch, as `separate-products` takes them."""
    part = _REACHED / _BY_PRODUCTS
    pairs = [f"{name}:{part * rate:.0f}:{part * apart[name]:.0f}" for name, rate in together.items()]
    return ",".join([*pairs, f"{LAUNCH}:{launch_bytes(target):.3g}"] if pairs else [])


def launch_bytes(target: Target) -> float:
    """The bytes that memory moves in the time of a launch: what each further kernel around components counts as."""
    return STARTED * _REACHED * target.dram_bytes_s
