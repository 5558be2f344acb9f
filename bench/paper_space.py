"""Hofstra's whole space, by his twelve parameters, and what his figures 7 to 15 say of it, beside the model's
predictions of all of it and what was measured of a part.

His parameters and restrictions are those of his tables 2 and 3 and of section 4.1. A configuration is one of ours with
the same tiles, order, and operands in shared memory, without padding, of which his text has none.
"""

from __future__ import annotations

import functools
import itertools
import json
import lzma
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.rules import broken
from mlir_gemm.tile_model.select import estimate

KEY = "hofstra"
"""The work's."""
SHAPES = ((8, 32), (16, 16), (32, 8))
TILES = (32, 64, 128, 256)
PER_CTA = (1, 2, 4)
INDEXING = {"cartesian": "row", "diagonal": "diagonal", "transpose": "column"}
WMMAS = (1, 2, 4, 8, 16)
IN_SHARED = {"both": "", "A": "promote_b=off", "B": "promote_a=off", "none": "promote=off"}
STEP, LANES = 16, 32
NARROWEST, WIDEST = 16, 128
"""Bits of an element, and of the widest copy."""
STATISTICS = ("mean", "best", "best by mean")
TITLE = "### All of his configurations, figures 7 to 15"
ABOUT = """
Source: `bench/papers/hofstra-space.toml`; the figures are plots, and the text says in words what is to be seen. His
space is that of his table 2 and section 4.1; figures of ours are TFLOP/s, the mean or the best of all configurations
with a value, of 4096 x 4096 x 4096 where no size stands. Nothing is padded, as his text has no padding."""
NOTE = """
What is measured has the standard error of a mean over a random part, ±; what differs by less says nothing, as walks and
orders of blocks do.

What his figures show of walks, of block and warp tiles and of WMMA's shapes the model has too, but for 256, which it
puts before 64, as the H100 does. **Not the orders of blocks**: diagonals share no operands between neighbours, which
with tiles of 128x128 on an A4000 is 0.7 GB from DRAM for 0.4, hidden under the products in both; why his are "very
poor" there, and best on the A100, the text does not say. **Nor one operand in shared memory before both**: by a
fiftieth on the A4000, by more where several warps read the same fragments for themselves, and on the H100 by 1.15.

**How far the model is right about such kernels**: its costs of operands in place and of rows without pads come from a
few of them; these were drawn at random. Predicted for the H100 and measured, those of 4096 x 4096 x 4096 have a rank
correlation of 0.964, times are 0.91 of those predicted in the median, give or take 12 %, and the one that is predicted
to be the fastest of all is the fastest of the 201. At 1024 x 1024 x 1024 it is 0.87."""
FILES = "*-hofstra-space.json*"
"""What `test/gpu/check_papers_space.py` measured."""


@dataclass(frozen=True)
class Configuration:
    """One kernel of his space."""

    values: Mapping[str, str]
    """By the names of his parameters."""
    fields: str
    """Of our schedule."""


@dataclass(frozen=True)
class Claim:
    """What the text says of a figure of all configurations."""

    figure: str
    where: str
    words: str
    """What it says, in short, quoted where it stands in quotes."""
    chips: tuple[str, ...]
    """The GPU; several where they are what is compared."""
    places: Mapping[str, int]
    """By a value of the parameter, or by a chip: 1 is the fastest."""
    parameter: str = ""
    size: tuple[int, int, int] = (4096, 4096, 4096)
    statistic: str = "mean"
    """One of STATISTICS, over all configurations that have the value."""
    only: str = ""
    """`NAME=VALUE`: of which configurations it is said."""


@dataclass(frozen=True)
class Verdict:
    """What ours gives for a claim."""

    figures: Mapping[str, float]
    right: int
    """Pairs in the order of the text."""
    pairs: int
    errors: Mapping[str, float]
    """The standard errors of means."""

    @property
    def said(self) -> str:
        """How many pairs are in the text's order, or how far apart values are that it calls alike."""
        if self.pairs:
            return f"{self.right} of {self.pairs}"
        known = list(self.figures.values())
        return f"alike to {100 * (max(known) / min(known) - 1):.0f} %" if len(known) > 1 else "-"


@functools.cache
def configurations() -> tuple[Configuration, ...]:
    """All that section 4.1 of his allows; `TILE_SHMEM` is 0, as with him."""
    return tuple(_configurations())


def _configurations() -> Iterator[Configuration]:
    for (m, n), columns, rows, per_cta, (indexing, raster), in_sequence, across, down, (shared, staged) in (
        itertools.product(
            SHAPES, TILES, TILES, PER_CTA, INDEXING.items(), (1, 0), WMMAS, WMMAS, IN_SHARED.items()
        )
    ):  # fmt: skip
        warp = m * down, n * across
        if warp[0] > rows or warp[1] > columns or (indexing != "cartesian" and rows != columns):
            continue
        threads = LANES * (rows // warp[0]) * (columns // warp[1])
        if (per_cta == 1 and not in_sequence) or threads < max(rows, columns) or threads > 1024:
            continue
        vector = _vector(rows if shared in ("both", "A") else columns, columns if shared == "both" else 0, threads)
        fields = [
            f"mma=wmma,instruction={m}x{n}x{STEP},block={rows}x{columns}x{STEP},warp={warp[0]}x{warp[1]}x{STEP}",
            f"raster={raster}",
            "stages=1,mainloop=direct" if shared == "none" else f"stages=2,mainloop=cp_async,layout=pad,pad=0,{vector}",
            staged,
            f"tiles_per_block={per_cta}" if per_cta > 1 else "",
            "" if in_sequence else "sequential_tiles=off",
        ]
        values = {
            "WMMA": f"{m}x{n}", "TILE_COLS": str(columns), "TILE_ROWS": str(rows), "TILES_PER_CTA": str(per_cta),
            "BLOCK_INDEX": indexing, "SEQUENTIAL_TILES": str(in_sequence), "WMMA_COLS": str(across),
            "WMMA_ROWS": str(down), "FRAG_SHMEM": shared,
        }  # fmt: skip
        yield Configuration(values, ",".join(each for each in fields if each))


def _vector(first: int, second: int, threads: int) -> str:
    """The widest copies that all threads have a part in."""
    least = min(side for side in (first, second) if side)
    return f"vector={max(NARROWEST, min(WIDEST, NARROWEST * least * STEP // threads))}"


@functools.cache
def predicted(chip: str, size: tuple[int, int, int]) -> Mapping[str, float]:
    """TFLOP/s of all configurations that are legal on a chip, by their fields."""
    problem, row = _problem(size), target(chip)
    found: dict[str, float] = {}
    for each in configurations():
        schedule = Schedule.make(Schedule.parse(each.fields))
        if next(broken(problem, schedule, row), None) is None:
            found[each.fields] = problem.flops / estimate(problem, schedule, row).total / 1e12
    return found


def _problem(size: tuple[int, int, int]) -> Problem:
    return Problem(*size, out="f32", reads_c=False)


@functools.cache
def claims() -> tuple[Claim, ...]:
    """What the text says, from `papers/hofstra-space.toml`."""
    data = tomllib.loads((Path(__file__).parent / "papers/hofstra-space.toml").read_text())
    return tuple(_claim(each) for each in data["claim"])


def _claim(data: dict[str, Any]) -> Claim:
    given = dict(data)
    chips, size = tuple(given.pop("chips")), tuple(given.pop("size", Claim.size))
    found = Claim(chips=chips, size=size, **given)
    names = {name for each in configurations()[:1] for name in each.values}
    if found.statistic not in STATISTICS or (found.parameter and found.parameter not in names):
        raise ValueError(f"figure {found.figure}: {found.statistic} of {found.parameter}")
    return found


def verdict(claim: Claim, rates: Sequence[Mapping[str, float]]) -> Verdict:
    """Ours for a claim: `rates` are TFLOP/s by fields, for each of its chips, or one measured GPU's."""
    groups: dict[str, list[float]] = {}
    if claim.parameter:
        groups = {value: _rates(claim, rates[0], value) for value in claim.places}
    else:
        groups = {chip: _rates(claim, each, "") for chip, each in zip(claim.chips, rates, strict=False)}
    figures = {name: _statistic(claim.statistic, several) for name, several in groups.items() if several}
    pairs = [(one, two) for one, two in itertools.combinations(figures, 2) if claim.places[one] != claim.places[two]]
    errors = {
        name: stdev(several) / len(several) ** 0.5
        for name, several in groups.items()
        if claim.statistic == "mean" and len(several) > 1
    }
    right = sum((figures[one] > figures[two]) == (claim.places[one] < claim.places[two]) for one, two in pairs)
    return Verdict(figures, right, len(pairs), errors)


def _rates(claim: Claim, rates: Mapping[str, float], value: str) -> list[float]:
    """Of the configurations with a value of the claim's parameter."""
    name, _, asked = claim.only.partition("=")
    return [
        rates[each.fields]
        for each in configurations()
        if each.fields in rates
        and (not value or each.values[claim.parameter] == value)
        and (not name or each.values[name] == asked)
    ]


def _statistic(name: str, rates: Sequence[float]) -> float:
    if name == "best by mean":
        return max(rates) / fmean(rates)
    return max(rates) if name == "best" else fmean(rates)


@dataclass(frozen=True)
class Sample:
    """A part of the space, measured."""

    device: str
    date: str
    rates: Mapping[tuple[int, int, int], Mapping[str, float]]
    """TFLOP/s by fields, by the product's size."""


def sample(path: Path) -> Sample | None:
    """What `test/gpu/check_papers_space.py` wrote; None for a file of something else."""
    data = json.loads(lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_text())
    if not {"device", "date", "rows"} <= data.keys():
        return None
    rates: dict[tuple[int, int, int], dict[str, float]] = {}
    for row in data["rows"]:
        m, n, k = row["size"]
        rates.setdefault((m, n, k), {})[row["fields"]] = _problem((m, n, k)).flops / row["seconds"] / 1e12
    return Sample(data["device"], data["date"], rates)


def section(measured: Sample | None, chosen: Sequence[Claim] | None = None) -> list[str]:
    """In Markdown: the title, what it is, a row for each claim (or each of those chosen), and what follows."""
    counts = counted() if chosen is None else ""
    head = "| figure | GPU | ours | the text | predicted | in order | measured | in order |"
    lines = [head, "|---|---|---|---|---|---|---|---|"]
    for claim in claims() if chosen is None else chosen:
        theirs = verdict(claim, [predicted(chip, claim.size) for chip in claim.chips])
        known = measured.rates.get(claim.size) if measured and claim.parameter else None
        ours = verdict(claim, [known]) if known else None
        cells = [
            claim.figure, _gpus(claim), _parameter(claim), claim.words, _figures(claim, theirs), theirs.said,
            _figures(claim, ours, errors=True) if ours else "-", ours.said if ours else "-",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    said = "Nothing of it was measured."
    if measured is not None:
        parts = ", ".join(
            f"{len(rates)} of {'x'.join(map(str, size))}"
            for size, rates in sorted(measured.rates.items(), reverse=True)
        )
        said = f"Measured on {measured.device}, {measured.date}, configurations at random: {parts}."
    return [TITLE, f"{ABOUT} {counts} {said}", "\n".join(lines), NOTE]


def _gpus(claim: Claim) -> str:
    size = "" if claim.size == Claim.size else f", {'x'.join(map(str, claim.size))}"
    return ", ".join(_name(chip) for chip in claim.chips) + size


def _name(chip: str) -> str:
    return target(chip).name if "," not in chip else "Ada"


def _parameter(claim: Claim) -> str:
    only = f" of `{claim.only}`" if claim.only else ""
    return f"{claim.statistic} by `{claim.parameter}`{only}" if claim.parameter else f"{claim.statistic}{only}"


def _figures(claim: Claim, found: Verdict, errors: bool = False) -> str:
    names = {name: name if claim.parameter else _name(name) for name in found.figures}
    sure = {name: f" ± {found.errors[name]:.2g}" if errors and name in found.errors else "" for name in names}
    return ", ".join(f"{names[name]}: {figure:.3g}{sure[name]}" for name, figure in found.figures.items())


def counted() -> str:
    """How many configurations there are, and how many of them are legal where."""
    chips = dict.fromkeys(chip for claim in claims() for chip in claim.chips)
    legal = ", ".join(f"{len(predicted(chip, Claim.size)):,} on {_name(chip)}" for chip in chips)
    return f"There are {len(configurations()):,} configurations; legal here are {legal}."
