"""What the probe of a chip found, as a row of `tile_model/chip_table.py` and as the name of a chip with its figures."""

from __future__ import annotations

from typing import Any, cast

from mlir_gemm.bench import probe_rates
from mlir_gemm.tile_model.chips import CHIPS, chip_name
from mlir_gemm.tile_model.recognise import product_of

Figures = dict[str, Any]


def row(figures: Figures, chip: str) -> str:
    """A row in the form of `tile_model/chip_table.py`. Values that were not measured are those of the table, with a
    remark; everything else is copied from the row of the chip, or has to be filled in."""
    known = CHIPS.get(chip)

    def figure(measured: Any, old: float | None, digits: int) -> str:
        if measured is not None:
            return f"{measured:.{digits}f}"
        return "?" if old is None else f"{old:.{digits}f}"

    sms = _at(figures, "device", "sms")
    clocks = _at(figures, "load", "4096", "sm_mhz")
    clock = clocks[1] / 1e3 if clocks else None
    tensor = _at(figures, "tensor", "mma_sync", "flops_clock_sm")
    l2_size, l2_rate = _at(figures, "device", "l2_bytes"), _at(figures, "l2", "bytes_s")
    dram = _at(figures, "dram", "copy_bytes_s")
    values = [
        f"sms={figure(sms, known.sms if known else None, 0)}",
        f"clock={figure(clock, known.clock_hz / 1e9 if known else None, 2)}",
        f"tensor={figure(tensor, known.tensor_flops_clock_sm if known else None, 0)}",
        f"l2=({figure(None if l2_size is None else l2_size / 2**20, known.l2_bytes / 2**20 if known else None, 0)}, "
        f"{figure(None if l2_rate is None else l2_rate / 1e12, known.l2_bytes_s / 1e12 if known else None, 1)})",
        f"dram={figure(None if dram is None else dram / 1e12, known.dram_bytes_s / 1e12 if known else None, 1)}",
    ]
    measured = (("sms", sms), ("clock", clock), ("tensor", tensor), ("l2 size", l2_size), ("l2 rate", l2_rate),
                ("dram", dram))  # fmt: skip
    missing = [name for name, value in measured if value is None]
    name = _at(figures, "device", "name") or (known.name if known else "?")
    remark = f"  # not measured: {', '.join(missing)}" if missing else ""
    return f'    _chip("{chip}", "{name}", _LIMITS, {", ".join(values)}, rates=_RATES, has=_HAS),{remark}'


H200 = {"clock": 1350e6, "tensor": 2326.4, "l2rate": 9.449e12, "dram": 4.269e12}
"""What the probe found on the H200 (bench/results/2026-11-24-h200-chip.json), whose row was fitted with products."""


def chip_of_figures(figures: Figures, arch: str) -> str:
    """The name of a chip that gives the model these figures (`tile_model/chips.py`).

    Rates are those of the H200's row in proportion to what the probe finds there: the row's are those with which the
    constants of the costs were fitted, of whole products, and not those of the probe's kernels. What was not measured
    is left to the row of the product, or of the compute capability: its constants too.
    """
    name = _at(figures, "device", "name")
    arch = product_of(name, arch) if name else arch
    h200 = CHIPS["sm_90a"]
    clocks = _at(figures, "load", "4096", "sm_mhz")
    rates = {
        "clock": (1e6 * clocks[1] if clocks else None, h200.clock_hz / 1e9),
        "tensor": (_at(figures, "tensor", "mma_sync", "flops_clock_sm"), h200.tensor_flops_clock_sm),
        "l2rate": (_at(figures, "l2", "bytes_s"), h200.l2_bytes_s / 1e12),
        "dram": (_at(figures, "dram", "copy_bytes_s"), h200.dram_bytes_s / 1e12),
    }
    found = {name: own * measured / H200[name] for name, (measured, own) in rates.items() if measured}
    size, sms = _at(figures, "device", "l2_bytes"), _at(figures, "device", "sms")
    found |= {"l2": size / 2**20} if size else {}
    found |= {"sms": sms} if sms else {}
    by_mma: Any = figures.get("rates")
    if isinstance(by_mma, dict):
        found |= probe_rates.figures_of(cast("dict[str, Any]", by_mma), h200.rates)
    given = ",".join(f"{name}={value:.4g}" for name, value in found.items())
    return chip_name(f"{arch}{',' if ':' in arch else ':'}{given}" if given else arch)


def limits(figures: Figures) -> str:
    """A row of `_Limits` for the chip's compute capability."""
    names = ("smem_block", "smem_sm", "smem_reserved")
    sizes = [_at(figures, "device", name) for name in names]
    counts = [_at(figures, "device", name) for name in ("threads_sm", "blocks_sm")]
    shown = [*("?" if size is None else f"{size / 1024:g}" for size in sizes),
             *("?" if count is None else str(count) for count in counts)]  # fmt: skip
    return f"_LIMITS = _Limits({', '.join(shown)})"


def _at(figures: Figures, *names: str) -> Any:
    """A figure, None where it was not measured."""
    found: Any = figures
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return found  # pyright: ignore[reportUnknownVariableType]
