"""Chips by name: rows of `chip_table.py`, products that share a row's compute capability (`products.py`), chips of
other vendors (`other_chips.py`), and all of these with other figures.

A chip is named as `sm_90a` (the row), `sm_90a:h100pcie` (a product), or with figures of its own in the place of the
row's or the product's: `sm_90a:h100pcie,sms=100`, `sm_86:sms=68,dram=0.76`. Constants of the costs are figures too:
`sm_90a:wgmma.row=1.4` (`constants.py`). That name stands in `tile.chip`, and says all that the model knows, on any
machine.
"""

from __future__ import annotations

import difflib
import functools
import re
from dataclasses import replace

from mlir_gemm.errors import TargetError
from mlir_gemm.parts.registry import has, mainloops_on, mmas_on
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model import amd_chips, other_chips, products
from mlir_gemm.tile_model.chip_table import ROWS
from mlir_gemm.tile_model.constants import MOST, constants_of, with_constants

_NUMBER = re.compile(r"(?:sm_)?(\d+[af]?)")
_SUFFIXED = 100
"""From this capability on all chips have code of their own (`a`) and of their family (`f`)."""

FIGURES = {
    "sms": (1, 1024, "streaming multiprocessors"),
    "clock": (0.1, 10, "GHz under load"),
    "tensor": (16, 65536, "f16 FLOPs with f32 accumulation in one clock of one SM, by mma.sync"),
    "l2": (0.1, 4096, "MB of L2"),
    "l2rate": (0.01, 1000, "TB/s of L2"),
    "dram": (0.01, 1000, "TB/s of memory"),
    "tf32": (0.01, 8, "rate of tf32 relative to f16's"),
    "i8": (0.01, 16, "of i8"),
    "f8": (0.01, 16, "of 8-bit floats"),
    "f64": (1, 16384, "f64 FLOPs in one clock of one SM by tensor cores"),
    "fma_f32": (1, 16384, "f32 FLOPs by ordinary arithmetic"),
    "fma_f64": (0.1, 16384, "f64 FLOPs by ordinary arithmetic"),
}
"""The figures that a name may give in the place of a row's: the least, the most, and what they are."""
_SCALES = {"clock": 1e9, "l2": float(1 << 20), "l2rate": 1e12, "dram": 1e12}
_FIELDS = {
    "sms": "sms",
    "clock": "clock_hz",
    "tensor": "tensor_flops_clock_sm",
    "l2": "l2_bytes",
    "l2rate": "l2_bytes_s",
    "dram": "dram_bytes_s",
}
RATES = ("tf32", "i8", "f8", "f64", "fma_f32", "fma_f64")
"""Figures that are fields of `Rates`."""

CHIPS: dict[str, Target] = {row.chip: row for row in ROWS}
"""One row for each compute capability."""
OTHER_CHIPS: dict[str, Target] = {row.chip: row for row in (*other_chips.ROWS, *amd_chips.ROWS)}
"""Chips of other vendors, and those that are known by the interface through which they are programmed."""


def _compact(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


OTHER_NAMES = {_compact(each): row.chip for row in OTHER_CHIPS.values() for each in (row.chip, row.name)}
OTHER_NAMES.update(amd_chips.NAMES)
"""Chips of other vendors by their names, without spaces."""

PRODUCTS: dict[str, str] = {
    **{_compact(row.name): row.chip for row in ROWS},
    **{_compact(each.name): f"{each.chip}:{_compact(each.name)}" for each in products.ROWS},
    **products.OTHER_NAMES,
}
"""Chips by the names of products, without spaces: those of the rows (of the H200's two, that with all that it has), and
others."""
PRODUCTS.update({alias: PRODUCTS[name] for alias, name in products.ALIASES.items()})
_ROWS = {_compact(each.name): each for each in products.ROWS}


@functools.cache
def target(chip: str) -> Target:
    """The data of a chip, by a name that `chip_name` takes. Code for `sm_90` runs on later chips too, and does without
    what `sm_90a` has: wgmma and the copy engine. Code for `sm_100a` and its like (`sm_100f`, ...) runs on that chip (or
    its family) alone; nothing here uses what only such code may, so the rest is that of the plain name.

    Raises TargetError for a chip that is not in the table.
    """
    name = chip_name(chip)
    base, _, given = name.partition(":")
    found = CHIPS.get(base) or OTHER_CHIPS.get(base) or replace(CHIPS[base[:-1]], chip=base)
    product, figures = _parsed(chip, given)
    if product:
        found = _ROWS[product].of(found)
    if figures:
        found = _with_figures(found, figures)
    return replace(found, chip=name)


def chip_name(chip: str | int) -> str:
    """The name of a chip, such as `sm_90a`, for that name in upper or lower case, for its number (`90`, as text too)
    and for a product's name (`h200`, `RTX 3090`); figures may follow it after `,` or `:` (`h100,sms=100`).

    Raises TargetError for a chip that is not in the table.
    """
    name = str(chip).strip().lower()
    first, *rest = [part.strip() for part in re.split("[:,]", name)]
    compact = _compact(first)
    if compact in PRODUCTS and not isinstance(chip, bool):
        base, _, product = PRODUCTS[compact].partition(":")
    else:
        base, product = OTHER_NAMES.get(compact) or _capability(chip, first), ""
    given = ",".join([product, *rest] if product else rest)
    own, figures = _parsed(chip, given)
    if own and _ROWS[own].chip != base:
        raise TargetError(f"chip '{chip}': '{own}' is {_ROWS[own].chip}, not {base}")
    values = [own] if own else []
    order = (*FIGURES, *sorted(figures.keys() - FIGURES.keys()))
    values += [f"{figure}={figures[figure]:g}" for figure in order if figure in figures]
    return f"{base}:{','.join(values)}" if values else base


def _capability(chip: str | int, name: str) -> str:
    """The name of a compute capability."""
    number = None if isinstance(chip, bool) else _NUMBER.fullmatch(name)
    found = f"sm_{number[1]}" if number else name
    base = found.rstrip("af")
    if found in CHIPS or (base in CHIPS and found[:-1] == base and int(base[3:]) >= _SUFFIXED):
        return found
    close = difflib.get_close_matches(name, (*CHIPS, *PRODUCTS, *OTHER_CHIPS), n=1) or difflib.get_close_matches(
        found, CHIPS, n=1
    )
    hint = f"; did you mean '{close[0]}'?" if close else ""
    others = f"others: {', '.join(OTHER_CHIPS)}"
    known = f"known chips: {', '.join(CHIPS)}; by product: {', '.join(sorted(PRODUCTS))}; {others}"
    raise TargetError(f"unknown chip '{chip}'{hint} ({known})")


def _parsed(chip: str | int, given: str) -> tuple[str, dict[str, float]]:
    """The product and the figures behind a chip's name. Raises TargetError."""
    product = ""
    figures: dict[str, float] = {}
    for number, part in enumerate(given.split(",") if given else ()):
        name, is_figure, value = part.partition("=")
        compact = products.ALIASES.get(_compact(part), _compact(part))
        if number == 0 and not is_figure and compact in _ROWS:
            product = compact
            continue
        if not is_figure or (name not in FIGURES and name not in constants_of(CHIPS["sm_90"])):
            known = ", ".join(f"{figure} ({about})" for figure, (_, _, about) in FIGURES.items())
            raise TargetError(
                f"chip '{chip}': '{part}' is no product of that chip, and no figure; expected {known}; or a "
                "constant of the costs, such as wgmma.row"
            )
        least, most, about = FIGURES.get(name) or _limits_of_constant(name)
        try:
            figures[name] = float(value)
        except ValueError:
            figures[name] = float("nan")
        if not least <= figures[name] <= most or (name == "sms" and figures[name] % 1):
            raise TargetError(f"chip '{chip}': {part}; expected {name}, {about}, from {least:g} to {most:g}")
    return product, figures


def _limits_of_constant(name: str) -> tuple[float, float, str]:
    own = constants_of(CHIPS["sm_90"])[name]
    return own / MOST, own * MOST, "a constant of the costs"


def _with_figures(row: Target, figures: dict[str, float]) -> Target:
    """A row with other figures; the rate of L2 goes with SMs and clock where it is not among them."""
    values = {_FIELDS[name]: value * _SCALES.get(name, 1) for name, value in figures.items() if name in _FIELDS}
    constants = {name: value for name, value in figures.items() if name not in FIGURES}
    rates = {name: value for name, value in figures.items() if name in RATES}
    row = replace(with_constants(row, constants), rates=replace(row.rates, **rates))
    for name in ("sms", "l2_bytes"):
        if name in values:
            values[name] = round(values[name])
    changed = replace(row, **values)
    if "l2rate" not in figures:
        rate = row.l2_bytes_s * changed.sms * changed.clock_hz / (row.sms * row.clock_hz)
        changed = replace(changed, l2_bytes_s=rate)
    said = ", ".join(f"{name}={value:g}" for name, value in figures.items())
    return replace(changed, name=f"{row.name} with {said}")


def fuller(chip: str) -> str:
    """What to say to somebody who names a chip of which another row has more; empty for all other chips, and for names
    of no chip."""
    row = CHIPS.get(chip.strip().lower())
    own = CHIPS.get(f"{row.chip}a") if row else None
    if row is None or own is None:
        return ""
    more = [each.name for each in (*mmas_on(own), *mainloops_on(own)) if not has(each, row)]
    return f"its code runs on every later chip too, without {' and '.join(more)}; {own.chip} uses the whole chip"
