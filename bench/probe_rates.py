"""What the probe of a chip measures beside f16: how fast it multiplies other types, and how long a load takes that
waits for the one before it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mlir_gemm.bench.modules import module
from mlir_gemm.bench.problems import Problem
from mlir_gemm.errors import Error
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Rates
from mlir_gemm.tile_model.chips import target

DEPTHS = (2, 1)
"""Two values of K, times M, whose difference leaves out a kernel's start and end."""
LARGE, SMALL = 4096, 2048
"""M and N: several waves of any tiles, and less for ordinary arithmetic, which may be slow."""
LINE = 32
"""Numbers of i32 in a line of 128 bytes."""
CHAINS = (384, 128)
"""Loads one after another, of two kernels."""
PLACES = {"l1": 16 << 10, "l2": 0.25, "dram": 8.0}
"""Bytes of what is read, or times L2: what L1 holds, what it does not hold but L2 does, and what neither does."""


@dataclass(frozen=True)
class Rate:
    """Products of one type by one mma."""

    name: str
    """As `spec.target.Rates` has it, and f16."""
    dtype: str
    """As a benchmark's problem has it."""
    out: str
    mma: str
    fields: str = ""
    """Further fields of its schedule."""
    size: int = LARGE

    @property
    def problems(self) -> list[Problem]:
        """The deep one and the shallow one."""
        return [
            Problem("probe", self.size, self.size, depth * self.size, self.dtype, self.out, "NT") for depth in DEPTHS
        ]

    def schedule_on(self, chip: str) -> str:
        """The whole schedule that the model chooses for the deep one: both have to have the same. Raises Error where
        the chip has no instruction for it."""
        row = target(chip)
        if self.mma == "mma_sync" and (  # otherwise f16 and ordinary arithmetic stand in
            (self.name == "f8" and "mma.sync.f8" not in row.capabilities) or (self.name == "f64" and not row.rates.f64)
        ):
            raise Error(f"{chip} has no mma.sync of {self.name}")
        wanted = Schedule.parse(f"mma={self.mma}{self.fields}")
        compilation = compile_module(module(self.problems[0]), chip=chip, schedule=wanted, until="select")
        return str(compilation.kernels[0].schedule)


_TENSOR = (("f16", "f16", "f16", ""), ("tf32", "tf32", "f32", ",precision=tf32"), ("i8", "s8", "i32", ""),
           ("f8", "fp8", "bf16", ",precision=f8"))  # fmt: skip
RATES = (
    *(Rate(name, dtype, out, "mma_sync", fields) for name, dtype, out, fields in _TENSOR),
    Rate("f64", "f64", "f64", "mma_sync"),
    *(Rate(name, dtype, out, "wgmma", fields) for name, dtype, out, fields in _TENSOR),
    Rate("fma_f32", "f32", "f32", "simt", size=SMALL),
    Rate("fma_f64", "f64", "f64", "simt", size=SMALL),
)


RELATIVE = ("tf32", "i8", "f8")
"""Those that `Rates` has relative to f16's."""


def rates_on(chip: str) -> list[tuple[Rate, str]]:
    """Those that a chip has an instruction for, with their schedules."""
    found: list[tuple[Rate, str]] = []
    for each in RATES:
        with contextlib.suppress(Error):
            found.append((each, each.schedule_on(chip)))
    return found


REFERENCE = {
    "mma_sync": {"f16": 2212.0, "tf32": 867.0, "i8": 4493.0, "f64": 210.0},
    "wgmma": {"f16": 2872.0, "tf32": 1482.0, "i8": 6244.0, "f8": 7314.0},
    "simt": {"fma_f32": 189.0, "fma_f64": 89.9},
}
"""What these products reach on an H200, whose row is known, by mma and type: operations a clock and SM
(`bench/results/2026-11-28-h200-rates.json.xz`)."""
ALIKE = 0.06
"""Rates that differ by less from what is known are the known ones: f16 by `mma.sync` came out 5 % apart on an H100 and
an H200, whose SMs are alike."""


def figures_of(found: dict[str, Any], known: Rates) -> dict[str, float]:
    """Rates as a chip's figures, from what was measured by mma and type: those of the H200's row in proportion to what
    is reached there. Those of types of tensor cores are relative to f16's by the same mma; `wgmma` says them where a
    chip has it."""
    given: dict[str, float] = {}
    for mma, reference in REFERENCE.items():
        measured: dict[str, Any] = found.get(mma, {})
        own: dict[str, float | None] = {name: each["flops_clock_sm"] for name, each in measured.items()}
        base = own.get("f16")
        for name, wanted in reference.items():
            rate = own.get(name)
            if name == "f16" or not rate or (name in RELATIVE and not base):
                continue
            scale = reference["f16"] / base if base and name in RELATIVE else 1.0
            ratio = scale * rate / wanted
            given[name] = getattr(known, name) * (1.0 if abs(ratio - 1) < ALIKE else ratio)
    return given


def chase(numbers: int, steps: int) -> str:
    """A function that follows a chain of places in a table of i32, `steps` loads from where it is told to begin, and
    gives where it has come."""
    lines = ["    %i0 = arith.index_cast %x : i32 to index"]
    for step in range(steps):
        lines.append(f"    %v{step} = tensor.extract %T[%i{step}] : tensor<{numbers}xi32>")
        lines.append(f"    %i{step + 1} = arith.index_cast %v{step} : i32 to index")
    return "\n".join([
        "#i = affine_map<(i) -> (i)>",
        f"func.func @chase(%T: tensor<{numbers}xi32>, %S: tensor<1xi32>) -> tensor<1xi32> {{",
        "  %e = tensor.empty() : tensor<1xi32>",
        '  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}',
        "    ins(%S : tensor<1xi32>) outs(%e : tensor<1xi32>) {",
        "  ^bb0(%x: i32, %o: i32):", *lines,
        f"    linalg.yield %v{steps - 1} : i32",
        "  } -> tensor<1xi32>", "  return %r : tensor<1xi32>", "}", "",
    ])  # fmt: skip


def numbers_of(place: str, l2_bytes: int) -> int:
    """How many numbers the table has that is read from a place, of whole lines."""
    size = PLACES[place]
    return int(size if isinstance(size, int) else size * l2_bytes) // (4 * LINE) * LINE


def kernels(chip: str) -> list[tuple[str, str]]:
    """Module and schedule of everything that is run here."""
    found = [(module(problem), schedule) for each, schedule in rates_on(chip) for problem in each.problems]
    sizes = [numbers_of(place, target(chip).l2_bytes) for place in PLACES]
    return found + [(chase(size, steps), "") for size in sizes for steps in CHAINS]


def rate_of(rate: Rate, seconds: Callable[[Problem], float]) -> float:
    """Operations a second, from the times of both products."""
    (deep, shallow) = rate.problems
    return (deep.flops - shallow.flops) / (seconds(deep) - seconds(shallow))


def table_of(numbers: int, torch: Any, device: str = "cuda") -> tuple[Any, Any]:
    """A table whose lines are one chain in random order, each line's first number saying where the next one begins;
    and where to begin."""
    order = torch.randperm(numbers // LINE, device=device) * LINE
    table = torch.zeros(numbers, dtype=torch.int32, device=device)
    table[order] = order.roll(-1).to(torch.int32)
    return table, order[:1].to(torch.int32)


def latency(
    numbers: int, held: bool, run: Callable[[str, Any, Any], Callable[[], Any]], timed: Any, torch: Any
) -> float:
    """Seconds of one load of a chain. `run` makes a run of a module from a table and a start; `timed` times one. Where
    a cache should have the table (`held`) all of it is read before each run: a GPU that has waited for the next kernel
    to be compiled has nothing in L2 (0.42 us a load on an H100, as from memory). What that takes is the same for
    both lengths."""
    table, start = table_of(numbers, torch)

    def after_reading(follow: Callable[[], Any]) -> Callable[[], Any]:
        def each() -> None:
            table.sum()
            follow()

        return each if held else follow

    times = [timed(after_reading(run(chase(numbers, steps), table, start))) for steps in CHAINS]
    return (times[0] - times[1]) / (CHAINS[0] - CHAINS[1])
