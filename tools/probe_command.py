"""`mlir-gemm probe`: measures the GPU of this machine for the tile model, and keeps what it found in a table."""

from __future__ import annotations

import argparse
import datetime
import json
from pathlib import Path
from typing import Any

from mlir_gemm.bench import probe_chip
from mlir_gemm.bench.chip_figures import chip_of_figures
from mlir_gemm.errors import Error
from mlir_gemm.runtime import own_chip
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tools.files import write_outputs
from mlir_gemm.tools.json_output import text_of
from mlir_gemm.tools.report import table
from mlir_gemm.tools.terminal import say


def run(arguments: argparse.Namespace) -> int:
    path = own_chip.table_path() if arguments.o is None else Path(arguments.o)
    if path is None:
        raise Error(f"{own_chip.VARIABLE} turns the user's table off, or there is no folder for it; say where with -o")
    kept = _content(path)
    figures = probe_chip.measured("", arguments.seconds, probe_chip.MEASUREMENTS)
    arch = str(figures["chip"]).partition(":")[0]
    chip = chip_of_figures(figures, arch)
    name = str(figures["device"]["name"])
    before = own_chip.default_chip(0)
    kept["gpus"][name] = {"chip": chip, "date": datetime.date.today().isoformat(), "figures": figures}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_outputs({str(path): json.dumps(kept, indent=1) + "\n"})
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
        ("chip", chip),
        ("kept in", str(path)),
    ]
    print(table(rows))
    say(f"what is compiled for this GPU from now on takes these figures; delete {path} to go back to the table's")
    return 0


def _content(path: Path) -> dict[str, Any]:
    """What the user's table has so far. Raises Error for a file that is something else, which is left as it is."""
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] == own_chip.FORMAT and isinstance(content["gpus"], dict):
            return content
    except FileNotFoundError:
        return {"format": own_chip.FORMAT, "gpus": {}}
    except OSError as error:
        raise Error(f"cannot read '{path}': {error.strerror or error}") from None
    except (ValueError, LookupError, TypeError):
        pass
    raise Error(
        f"'{path}' is no table of chips that this version reads (format {own_chip.FORMAT}); move it, or give -o"
    )
