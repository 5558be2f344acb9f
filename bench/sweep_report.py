"""The file of a sweep and its summary: the model's choice against the best measured and against cuBLAS.

The file is a list with an entry for each problem. `case`, `cublas_us` and `rows` (`schedule`, `us`, `err`) are what
`fit_wgmma_cost.py` reads; what else an entry has is described in docs/benchmarks.md.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlir_gemm.bench.former_schedules import read_schedule
from mlir_gemm.bench.problems import Problem
from mlir_gemm.bench.summary import NONE, geometric_mean, table
from mlir_gemm.errors import Error
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.problem import Problem as Product
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.select import estimate
from mlir_gemm.tile_model.swap import as_computed

Entry = dict[str, Any]


def case_of(problem: Problem) -> list[Any]:
    """Sizes, the layouts of A and B (`n` or `t`), MLIR's element types of operands and result."""
    first, second = problem.layout.lower()
    return [problem.m, problem.n, problem.k, first, second, problem.element, problem.out]


def product_of_case(case: Sequence[Any]) -> Product:
    """The tile model's problem of a case, its arrays dense. After the types there may be the number of products."""
    m, n, k, of_a, of_b, kind, out = case[:7]
    batch = case[7] if len(case) > 7 else 1

    def vector(neighbours: int, type_: str) -> int:
        bits = 8 * neighbours * ELEMENT_BYTES[type_]
        return min(128, bits & -bits)

    return Product(
        m, n, k, a=kind, b=kind, acc="i32" if kind == "i8" else "f64" if kind == "f64" else "f32", out=out,
        reads_c=False, a_order="mk" if of_a == "n" else "km", b_order="kn" if of_b == "n" else "nk",
        a_vector=vector(k if of_a == "n" else m, kind), b_vector=vector(n if of_b == "n" else k, kind),
        out_vector=vector(n, out), batch=batch,
    )  # fmt: skip


def read(path: str) -> list[Entry]:
    """The entries of a file, which may be packed by xz. Raises Error."""
    try:
        data = Path(path).read_bytes()
        found = json.loads(lzma.decompress(data) if path.endswith(".xz") else data)
    except (OSError, ValueError, lzma.LZMAError) as problem:
        raise Error(f"cannot read the sweep '{path}': {problem}") from None
    if not isinstance(found, list) or not all(isinstance(each, dict) and "rows" in each for each in found):  # pyright: ignore[reportUnknownVariableType]
        raise Error(f"'{path}' is no sweep: expected a list of entries with 'case' and 'rows'")
    return found  # pyright: ignore[reportUnknownVariableType]


def write(path: Path, entries: Sequence[Entry]) -> None:
    """All at once: whoever is interrupted keeps the file of before."""
    text = "[" + ",\n".join(json.dumps(entry) for entry in entries) + "]\n"
    beside = path.with_name(path.name + ".new")
    beside.write_text(text)
    beside.replace(path)


@dataclass(frozen=True)
class Line:
    """One problem of the summary; times in microseconds."""

    name: str
    rows: int
    wrong: int
    choice: float | None
    chosen: str
    best: float
    fastest: str
    cublas: float | None

    @property
    def lost(self) -> float | None:
        """How many times the best measured time the choice takes."""
        return None if self.choice is None else self.choice / self.best

    def of_cublas(self, ours: float | None) -> float | None:
        """How many times as fast as cuBLAS."""
        return self.cublas / ours if self.cublas and ours else None


def line_of(entry: Entry, chip: str, again: bool = False) -> Line | None:
    """An entry in short; None when nothing was measured. The choice is the one that was measured, or (`again`, or a
    file without one) what the model as it stands would choose among the measured."""
    rows = [row for row in entry["rows"] if row.get("us")]
    if not rows:
        return None
    best = min(rows, key=lambda row: row["us"])
    choice: Entry | None = entry.get("choice")
    if again or not choice or not choice.get("us"):
        choice = predicted_choice(entry, rows, chip)
    if not again and choice and choice["us"] < best["us"]:
        best = choice
    return Line(
        name=entry.get("problem") or name_of_case(entry["case"]),
        rows=len(rows),
        wrong=len(entry.get("wrong", [])),
        choice=choice["us"] if choice else None,
        chosen=shown(choice["schedule"], bool(choice.get("swapped"))) if choice else NONE,
        best=best["us"],
        fastest=shown(best["schedule"], bool(best.get("swapped"))),
        cublas=entry.get("cublas_us"),
    )


def predicted_choice(entry: Entry, rows: Sequence[Entry], chip: str) -> Entry | None:
    """Of the measured schedules the one with the least predicted time."""
    if entry.get("epilogue", "none") != "none":
        return None  # a case does not say what its epilogue reads
    product, known = product_of_case(entry["case"]), target(entry.get("chip", chip))

    def seconds(row: Entry) -> float:
        schedule = read_schedule(row["schedule"])
        return estimate(as_computed(product, schedule), schedule, known).total

    return min(rows, key=seconds)


def name_of_case(case: Sequence[Any]) -> str:
    m, n, k, of_a, of_b, kind, out = case
    return f"{m}x{n}x{k} {kind}{'' if out == kind else f'->{out}'} {of_a.upper()}{of_b.upper()}"


def shown(text: str, swapped: bool = False) -> str:
    """What tells schedules apart, such as `128x256x64 c2x1 g8`."""
    schedule = read_schedule(text)
    parts = ["x".join(map(str, schedule.block))]
    if schedule.mma != "wgmma":
        parts += [schedule.mma, "x".join(map(str, schedule.warp)), f"s{schedule.stages}"]
    if schedule.cluster_m * schedule.cluster_n > 1:
        parts.append(f"c{schedule.cluster_m}x{schedule.cluster_n}")
    for short, name in (("/", "split_k_cluster"), ("t", "ping_pong")):
        if getattr(schedule, name) > 1:
            parts.append(f"{short}{getattr(schedule, name)}")
    parts.append(f"g{schedule.raster_group}" if schedule.raster == "grouped" else schedule.raster)
    return " ".join(parts + ["swap_ab"] * (swapped or schedule.swap_ab))


def summary(entries: Sequence[Entry], chip: str, again: bool = False) -> str:
    """The table, and the means below it."""
    lines = [line for entry in entries if (line := line_of(entry, chip, again)) is not None]
    if not lines:
        return "nothing was measured"
    heads = ["problem", "kernels", "choice us", "best us", "choice / best", "choice of cuBLAS", "best of cuBLAS",
             "choice", "best", "wrong"]  # fmt: skip
    cells: list[list[str]] = []
    for line in lines:
        ratios = [line.lost, line.of_cublas(line.choice), line.of_cublas(line.best)]
        times = [_figure(line.choice, 1), _figure(line.best, 1)]
        cells.append(
            [line.name, str(line.rows), *times, *map(_figure, ratios), line.chosen, line.fastest, str(line.wrong)]
        )
    parts = [table(heads, cells), ""]
    for what, values, worst in (
        ("choice / best", [line.lost for line in lines], max),
        ("choice of cuBLAS", [line.of_cublas(line.choice) for line in lines], min),
        ("best of cuBLAS", [line.of_cublas(line.best) for line in lines], min),
    ):
        known = [value for value in values if value]
        if known:
            at = lines[values.index(worst(known))].name
            parts.append(f"{what}: geometric mean {geometric_mean(known):.3f}, worst {worst(known):.3f} ({at})")
    wrong = sum(line.wrong for line in lines)
    parts.append(f"{sum(line.rows for line in lines)} kernels of {len(lines)} problems, {wrong} wrong")
    return "\n".join(parts)


def _figure(value: float | None, digits: int = 3) -> str:
    return NONE if value is None else f"{value:.{digits}f}"
