"""Which row of the table a GPU is, by what its driver says of it."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model import products
from mlir_gemm.tile_model.chips import CHIPS, PRODUCTS, chip_name, target

COPY = 0.9
"""The part of a memory's rate on paper that a copy reaches: 4.3 of 4.8 TB/s on the H200."""
SAME = 0.15
"""Figures that differ less are taken for the row's: rows have what a load leaves of what the driver says."""
FASTER = 0.25
"""By so much a chip's highest clock may be above a row's, which holds under load."""
LESS_POWER, OF_POWER = 0.97, 0.371
"""A power limit of less than this part of the product's own lowers the clock under load, by this power of that part:
the exponent of the power limit that was fitted on the H200 (`bend` of `fitted.py`)."""
ALIKE = 0.75
"""How alike two names of products are that belong to one family."""
_WORDS = re.compile(r"[\s\-_/]+")
_MAKERS = ("nvidia", "geforce", "tesla", "quadro", "graphics", "device")


class Recognised(NamedTuple):
    """The chip that a GPU counts as."""

    chip: str
    """By a name that `chips.target` takes."""
    why: str
    """In words."""


def recognise(name: str, arch: str, asked: Mapping[str, float]) -> Recognised:
    """The row of a GPU: that of its name, else the nearest one of its compute capability, with what was asked where it
    differs.

    Args:
        name: as the driver says, such as `NVIDIA H100 PCIe`.
        arch: compute capability by LLVM's name, such as `sm_90a`.
        asked: `sms`; `clock`, the highest, in GHz; `l2` in MB; `dram` in TB/s on paper; `power`, the limit as a part of
            the product's own. What is not known is left out.
    """
    if arch not in CHIPS:
        return Recognised(arch, f"the table has no row of {arch}")
    rows = _rows(arch)
    chip = _by_name(name, rows)
    said = f"its name, {name}" if chip else f"the nearest row to {name}"
    chip = chip or _nearest(name, rows, asked)
    figures = _differences(rows[chip], asked)
    if not figures:
        return Recognised(chip, f"by {said}" if said.startswith("its") else said)
    given = ",".join(f"{figure}={value:.4g}" for figure, value in figures.items())
    told = ", ".join(f"{figure}={value:.4g}" for figure, value in figures.items())
    by = "the row of its name" if said.startswith("its") else said
    why = f"{by}, with {told} as the driver says"
    if asked.get("power", 1.0) < LESS_POWER:
        why += f"; its power limit is {asked['power']:.0%} of the product's, which lowers the clock under load"
    return Recognised(chip_name(f"{chip}{',' if ':' in chip else ':'}{given}"), why)


def product_of(name: str, arch: str) -> str:
    """The product of a compute capability that the driver calls so; the capability where there is none of that name."""
    if arch not in CHIPS:
        return arch
    return _by_name(name, _rows(arch)) or arch


def _rows(arch: str) -> dict[str, Target]:
    return {chip: target(chip) for chip in sorted({arch, *(c for c in PRODUCTS.values() if c.startswith(f"{arch}:"))})}


def _words(name: str) -> list[str]:
    return [word for word in _WORDS.split(name.lower()) if word and word not in _MAKERS]


def _by_name(name: str, rows: Mapping[str, Target]) -> str:
    """The chip whose name the driver's begins with, the longest; empty for none."""
    words = _words(name)
    known = {each.name: each.driver for each in products.ROWS}
    found: list[tuple[int, str]] = []
    for chip, row in rows.items():
        for given in (row.name, *known.get(row.name, ())):
            own = _words(given)
            if words[: len(own)] == own:
                found.append((len(own), chip))
    return max(found)[1] if found else ""


def _nearest(name: str, rows: Mapping[str, Target], asked: Mapping[str, float]) -> str:
    """The chip of the same family by its name, else that with the nearest number of SMs."""
    short = " ".join(_words(name))

    def distance(chip: str) -> tuple[bool, float]:
        alike = difflib.SequenceMatcher(None, short, rows[chip].name.lower()).ratio()
        sms = asked.get("sms", rows[chip].sms)
        return alike < ALIKE, abs(math.log(sms / rows[chip].sms))

    return min(rows, key=distance)


def _differences(row: Target, asked: Mapping[str, float]) -> dict[str, float]:
    """What was asked where it is not what the row has."""
    found: dict[str, float] = {}
    if asked.get("sms", row.sms) != row.sms:
        found["sms"] = asked["sms"]
    clock = row.clock_hz / 1e9
    if not clock * (1 - SAME) <= asked.get("clock", clock) <= clock * (1 + FASTER):
        found["clock"] = asked["clock"]
    if asked.get("power", 1.0) < LESS_POWER:
        found["clock"] = found.get("clock", clock) * asked["power"] ** OF_POWER
    for figure, own, part in (("l2", row.l2_bytes / 2**20, 1.0), ("dram", row.dram_bytes_s / 1e12, COPY)):
        wanted = asked.get(figure, 0) * part
        if wanted and not own * (1 - SAME) <= wanted <= own * (1 + SAME):
            found[figure] = wanted
    return found
