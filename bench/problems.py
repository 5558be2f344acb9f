"""The one list of problems that are measured, and how a part of it is chosen."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

from mlir_gemm.errors import Error
from mlir_gemm.spec.element_types import ELEMENT_BYTES

Sizes = tuple[int, int, int]

GROUPS = {
    "large": "aligned, large enough to be limited by the tensor cores or by power",
    "medium": "aligned, 512 to 2048",
    "skinny": "few rows or few columns: limited by memory",
    "ragged": "odd sizes, or rows that are not a multiple of 128 bytes",
    "deep": "few tiles and a long K",
    "further": "sizes whose tiles leave SMs idle, and some of language models",
    "types": "other element types, and f32 results",
    "epilogues": "elementwise operations after the product",
}
LAYOUTS = ("NN", "NT", "TN", "TT")
"""How A and B lie in memory: N for [M, K] and [K, N], T for [K, M] and [N, K], row-major."""
ELEMENTS = {"f16": "f16", "bf16": "bf16", "f32": "f32", "tf32": "f32", "f64": "f64", "fp8": "f8E4M3FN", "s8": "i8"}
"""MLIR's element type of the operands, by what a problem calls it; tf32 is f32 multiplied with 11 bits of mantissa."""
ACCUMULATORS = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64", "f8E4M3FN": "f32", "i8": "i32"}
RESULTS = {"f16": "f16", "bf16": "bf16", "f32": "f32", "tf32": "f32", "f64": "f64", "fp8": "bf16", "s8": "i32"}
"""The element type of the result, by the operands' type, where nothing else is said."""
EPILOGUES = ("none", "bias", "gelu", "silu", "bias_gelu", "bias_silu", "silu_mul")
"""Steps joined by `_`, in order: add a vector along N, an activation (GELU by erf), multiply by a matrix."""


@dataclass(frozen=True)
class Problem:
    """D = epilogue(A B), with A of M x K and B of K x N."""

    group: str
    m: int
    n: int
    k: int
    dtype: str = "f16"
    """Of A and B, one of ELEMENTS."""
    out: str = "f16"
    """MLIR's element type of D."""
    layout: str = "NN"
    epilogue: str = "none"

    @property
    def element(self) -> str:
        """MLIR's element type of A and B."""
        return ELEMENTS[self.dtype]

    @property
    def accumulator(self) -> str:
        """MLIR's element type of the sums."""
        return ACCUMULATORS[self.element]

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the epilogue: `bias`, `gelu`, `silu`, `mul`."""
        return () if self.epilogue == "none" else tuple(self.epilogue.split("_"))

    @property
    def flops(self) -> int:
        """Multiplications and additions of the product."""
        return 2 * self.m * self.n * self.k

    @property
    def bytes(self) -> int:
        """What must be moved at least: each operand read and the result written once."""
        m, n, k, out = self.m, self.n, self.k, ELEMENT_BYTES[self.out]
        read = n * out * ("bias" in self.steps) + m * n * out * ("mul" in self.steps)
        return (m * k + k * n) * ELEMENT_BYTES[self.element] + m * n * out + read

    @property
    def name(self) -> str:
        """Sizes, types, layout and epilogue, such as `4096x4096x64 f16 NT` or `64x64x64 f16->f32 NN bias`."""
        to = "" if self.out == RESULTS[self.dtype] else f"->{self.out}"
        behind = "" if self.epilogue == "none" else f" {self.epilogue}"
        return f"{self.m}x{self.n}x{self.k} {self.dtype}{to} {self.layout}{behind}"


_SIZES: dict[str, tuple[Sizes, ...]] = {
    "large": (
        (4096, 4096, 4096), (8192, 8192, 8192), (16384, 16384, 16384), (4096, 28672, 8192), (4096, 32768, 512),
        (4096, 7168, 16384), (4096, 4096, 7168), (4096, 7168, 2048),
    ),
    "medium": ((512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (512, 1024, 128), (1024, 1024, 8192)),
    "skinny": (
        (16, 8192, 8192), (64, 8192, 8192), (256, 8192, 8192), (32, 28672, 8192), (128, 28672, 8192), (64, 2112, 7168),
        (128, 24576, 1536), (8192, 32, 8192),
    ),
    "ragged": (
        (1000, 1000, 1000), (4088, 4088, 4088), (4095, 4095, 4095), (8191, 8191, 8191), (4096, 4104, 4096),
    ),
    "deep": (
        (512, 512, 4096), (512, 512, 8192), (512, 512, 16384), (768, 768, 8192), (640, 640, 8192), (384, 384, 16384),
        (1024, 512, 8192), (256, 1024, 16384), (256, 512, 8192), (128, 1024, 8192), (256, 256, 8192), (64, 512, 16384),
        (1024, 1024, 4096), (960, 960, 6144), (896, 896, 7168),
    ),
    "further": (
        (1280, 1280, 1280), (1536, 1536, 1536), (1792, 1792, 1792), (2560, 2560, 2560), (3000, 3000, 3000),
        (3072, 3072, 3072), (5120, 5120, 5120), (768, 3072, 768), (96, 12288, 12288), (128, 4096, 14336),
        (512, 14336, 4096), (4096, 11008, 4096), (8, 4096, 4096), (1024, 28672, 8192),
    ),
}  # fmt: skip


def _cubes(dtype: str, sizes: Sequence[int], layouts: Sequence[str] = ("NN", "NT"), out: str = "") -> list[Problem]:
    to = out or RESULTS[dtype]
    return [Problem("types", n, n, n, dtype, to, layout) for n in sizes for layout in layouts]


def _all() -> tuple[Problem, ...]:
    found = [
        Problem(group, *sizes, dtype, dtype, layout)
        for group, several in _SIZES.items()
        for sizes, dtype, layout in itertools.product(several, ("f16", "bf16"), LAYOUTS)
    ]
    found += _cubes("f16", (1024, 2048, 4096, 8192), out="f32") + _cubes("bf16", (4096, 8192), out="f32")
    found += _cubes("fp8", (8192,), ("NT",))  # the only layout that the vendor's library has for it
    found += _cubes("s8", (8192,)) + _cubes("tf32", (8192,)) + _cubes("f32", (4096,)) + _cubes("f64", (4096,))
    # The product alone stands beside them, to show what an epilogue costs.
    found += [
        Problem("epilogues", n, n, n, dtype, dtype, layout, epilogue)
        for n, dtype, layout, epilogue in itertools.product(
            (2048, 4096, 8192), ("f16", "bf16"), ("NN", "NT"), ("none", "bias", "gelu", "bias_gelu", "silu_mul")
        )
    ]
    return tuple(found)


PROBLEMS = _all()


def select(groups: Sequence[str] = (), types: Sequence[str] = (), layouts: Sequence[str] = ()) -> list[Problem]:
    """The problems of these groups, operand types and layouts; nothing given means all groups, all types of the group
    `types` but f16 of the others, and NN and NT. Raises Error for what there is none of."""
    _check("group", groups, tuple(GROUPS))
    _check("type", types, tuple(ELEMENTS))
    _check("layout", layouts, LAYOUTS)
    found = [
        problem
        for problem in PROBLEMS
        if (not groups or problem.group in groups)
        and (problem.dtype in types if types else problem.dtype == "f16" or problem.group == "types")
        and problem.layout in (layouts or ("NN", "NT"))
    ]
    if not found:
        asked = ", ".join(filter(None, (" or ".join(part) for part in (groups, types, layouts))))
        raise Error(f"the list of problems has none for {asked}; mlir-gemm bench --list prints those of each group")
    return found


def custom(sizes: Sequence[Sizes], types: Sequence[str] = (), layouts: Sequence[str] = ()) -> list[Problem]:
    """Problems of other sizes, in these operand types and layouts (f16 and NN, NT where nothing is given)."""
    _check("type", types, tuple(ELEMENTS))
    _check("layout", layouts, LAYOUTS)
    return [
        Problem("custom", *each, dtype, RESULTS[dtype], layout)
        for each, dtype, layout in itertools.product(sizes, types or ("f16",), layouts or ("NN", "NT"))
    ]


_GRAINS = (256, 128, 64, 8, 1)
"""What the sizes of a random problem are multiples of; the last one is drawn half as often."""
_SHARES = (2, 2, 2, 2, 1)
_RESULT_SIDE, _DEPTH = (8, 16384), (64, 16384)
_LEAST_FLOPS, _MOST_FLOPS, _MOST_BYTES = 2**28, 2 * 8192**3, 2**30
"""Of random problems: below the first the time is that of a launch."""


def drawn(count: int, seed: int, types: Sequence[str] = (), layouts: Sequence[str] = ()) -> list[Problem]:
    """Random problems, which nobody chose: M, N and K alike on a logarithmic scale, multiples of 256, 128, 64, 8 or 1,
    in these operand types (f16 where nothing is given) and layouts (all). The same seed draws the same problems, and
    more of them continue the list."""
    _check("type", types, tuple(ELEMENTS))
    _check("layout", layouts, LAYOUTS)
    rng = random.Random(seed)
    found: list[Problem] = []
    while len(found) < count:
        grain = rng.choices(_GRAINS, _SHARES)[0]
        dtype, layout = rng.choice(types or ("f16",)), rng.choice(layouts or LAYOUTS)
        m, n, k = (_drawn_size(rng, side, grain) for side in (_RESULT_SIDE, _RESULT_SIDE, _DEPTH))
        problem = Problem("random", m, n, k, dtype, RESULTS[dtype], layout)
        if _LEAST_FLOPS <= problem.flops <= _MOST_FLOPS and problem.bytes <= _MOST_BYTES:
            found.append(problem)
    return found


def _drawn_size(rng: random.Random, limits: tuple[int, int], grain: int) -> int:
    low, high = limits
    size = low * (high / low) ** rng.random()
    return max(grain, round(size / grain) * grain)


def _check(what: str, given: Sequence[str], known: Sequence[str]) -> None:
    for each in given:
        if each not in known:
            raise Error(f"'{each}' is no {what} of the list of problems: expected {', '.join(known)}")
