"""`mlir-gemm probe`: measures the GPU of this machine for the tile model, and keeps what it found in a table."""

from __future__ import annotations

import argparse
import datetime
from typing import Any, cast

from mlir_gemm.bench import probe_chip
from mlir_gemm.bench.chip_figures import Figures, chip_of_figures
from mlir_gemm.runtime import own_chip
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tools.json_output import text_of
from mlir_gemm.tools.report import table
from mlir_gemm.tools.terminal import say
from mlir_gemm.tools.user_chips import content_of, keep, path_of_table


def run(arguments: argparse.Namespace) -> int:
    path = path_of_table(arguments.o, "-o")
    kept = content_of(path, "-o")
    figures = probe_chip.measured("", arguments.seconds, probe_chip.MEASUREMENTS)
    arch = str(figures["chip"]).partition(":")[0]
    chip = chip_of_figures(figures, arch)
    name = str(figures["device"]["name"])
    before = own_chip.default_chip(0)
    kept["gpus"][name] = {"chip": chip, "date": datetime.date.today().isoformat(), "figures": figures}
    keep(path, kept)
    if arguments.json:
        print(text_of({"gpu": name, "chip": chip, "before": before, "table": str(path), "figures": figures}))
        return 0
    was, now = target(before), target(chip)
    rows = [
        ("gpu", name),
        ("SMs", f"{now.sms} (so far {was.sms})"),
        ("clock", f"{now.clock_hz / 1e9:.2f} GHz (so far {was.clock_hz / 1e9:.2f})"),
        ("mma.sync", f"{now.tensor_flops_clock_sm:.0f} FLOP a clock and SM (so far {was.tensor_flops_clock_sm:.0f})"),
        ("L2", f"{now.l2_bytes / 2**20:.0f} MB (so far {was.l2_bytes / 2**20:.0f})"),
        ("L2 rate", f"{now.l2_bytes_s / 1e12:.1f} TB/s (so far {was.l2_bytes_s / 1e12:.1f})"),
        ("memory", f"{now.dram_bytes_s / 1e12:.2f} TB/s (so far {was.dram_bytes_s / 1e12:.2f})"),
        *_beside(figures),
        ("chip", chip),
        ("kept in", str(path)),
    ]
    print(table(rows))
    say(f"what is compiled for this GPU from now on takes these figures; delete {path} to go back to the table's")
    return 0


def _beside(figures: Figures) -> list[tuple[str, str]]:
    """Rates of the other types, and latencies, where they were measured: what failed is a text in its place."""
    rates, latencies = (_found(figures, name) for name in ("rates", "latencies"))
    rows: list[tuple[str, str]] = []
    for mma, found in rates.items():
        each = ", ".join(f"{name} {rate['flops_clock_sm']:.0f}" for name, rate in found.items())
        rows.append((f"rates, {mma}", f"{each} FLOP a clock and SM, of whole products"))
    if latencies:
        each = ", ".join(f"{place.removesuffix('_s')} {1e9 * seconds:.0f}" for place, seconds in latencies.items())
        rows.append(("a load waits", f"{each} ns"))
    return rows


def _found(figures: Figures, name: str) -> dict[str, Any]:
    found = figures.get(name)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
