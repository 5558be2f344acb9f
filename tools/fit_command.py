"""`mlir-gemm tune --fit`: fits a GPU's constants to what was measured, and keeps them in the user's table."""

from __future__ import annotations

import argparse
import datetime
import importlib.util
from typing import TYPE_CHECKING, Any

from mlir_gemm.errors import Error
from mlir_gemm.progress import Progress
from mlir_gemm.runtime import own_chip
from mlir_gemm.runtime.tuned_files import this_gpu
from mlir_gemm.runtime.user_files import OFF, data_folder
from mlir_gemm.tile_model.chips import PRODUCTS, chip_name, target
from mlir_gemm.tools.json_output import text_of
from mlir_gemm.tools.report import table
from mlir_gemm.tools.terminal import say
from mlir_gemm.tools.user_chips import content_of, keep, path_of_table

if TYPE_CHECKING:
    from mlir_gemm.tuner.fit import Fit, Judgement
    from mlir_gemm.tuner.measured import Measured

LEAST = 10
"""Problems that a fit needs: of fewer nothing can be left out."""


def run(arguments: argparse.Namespace) -> int:
    for module, name in (("optuna", "Optuna"), ("scipy", "SciPy")):
        if importlib.util.find_spec(module) is None:
            raise Error(f"mlir-gemm tune --fit needs {name}; pip install 'mlir-gemm[tune]'")
    from mlir_gemm.tuner.fit import chip_with, fit  # late: all else needs neither
    from mlir_gemm.tuner.measured import journals, of_all

    path = None if arguments.table == OFF else path_of_table(arguments.table, "--table")
    content = content_of(path, "--table") if path else {}
    storages = (
        [arguments.storage] if arguments.storage else [] if arguments.fit else journals(data_folder() / "studies")
    )
    found = of_all(arguments.fit, storages)
    gpu, chip = _gpu_of(found), arguments.chip
    found = [each for each in found if each.gpu in ("", gpu)]
    if len(found) < LEAST:
        raise Error(f"{len(found)} problems were measured on {gpu}; a fit that leaves some out needs {LEAST}")
    before = chip_name(chip) if chip else _chip_of(gpu, found)
    with Progress("fits") as bar:
        result = fit(found, target(before), bar)
    after = chip_with(before, result.values)
    kept = path is not None and not result.refused
    if path is not None and kept:
        entry: dict[str, Any] = content["gpus"].setdefault(gpu, {})
        entry |= {"chip": after, "date": datetime.date.today().isoformat(), "fit": _as_data(found, before, result)}
        keep(path, content)
    if arguments.json:
        print(text_of({"gpu": gpu, "chip": after, "before": before, "refused": result.refused,
                       "table": str(path) if kept else "", **_as_data(found, before, result)}))  # fmt: skip
        return 0
    print(table(_rows(gpu, found, before, result)))
    if result.refused:
        say(f"nothing is kept: {result.refused}")
    elif kept:
        say(f"kept in {path}: what is compiled for this GPU from now on takes these constants")
    else:
        say(f"nothing is kept, as asked; the chip would be {after}")
    return 0


def _gpu_of(found: list[Measured]) -> str:
    """The GPU that was measured on. Raises Error for several, and where nobody says which."""
    names = sorted({each.gpu for each in found if each.gpu})
    own = this_gpu()[1]
    if len(names) > 1 and own not in names:
        raise Error(f"these measurements are of several GPUs: {', '.join(names)}; fit each by its own files")
    name = own if own in names or not names else names[0]
    if not name:
        raise Error("the measurements do not name their GPU, and there is none here")
    return name


def _chip_of(gpu: str, found: list[Measured]) -> str:
    """The chip that this GPU counts as so far."""
    if gpu == this_gpu()[1]:
        return own_chip.default_chip(0)
    known = own_chip.measured().get(gpu) or PRODUCTS.get(gpu.lower().removeprefix("nvidia ").replace(" ", ""))
    said = next((each.chip for each in found if each.chip), "")
    if not known and not said:
        raise Error(f"the chip of '{gpu}' is not known; name it by --chip")
    return chip_name(known or said)


def _as_data(found: list[Measured], before: str, result: Fit) -> dict[str, Any]:
    def judged(each: Judgement) -> dict[str, float]:
        return {"mean": each.mean, "worst": each.worst, "error": each.error}

    return {
        "from": before, "problems": len(found), "schedules": sum(len(each.seconds) for each in found),
        "values": result.values, "as it was": judged(result.before), "left out": judged(result.after),
        "all": judged(result.inside),
    }  # fmt: skip


def _rows(gpu: str, found: list[Measured], before: str, result: Fit) -> list[tuple[str, str]]:
    def shown(each: Judgement) -> str:
        return (
            f"{each.mean:.3f} times the best in the mean, {each.worst:.3f} at worst; times to within {each.error:.1%}"
        )

    schedules = sum(len(each.seconds) for each in found)
    rows = [
        ("gpu", gpu),
        ("chip", before),
        ("measured", f"{schedules} schedules of {len(found)} problems"),
        ("choice so far", shown(result.before)),
        ("on problems left out", shown(result.after)),
        ("on those fitted to", shown(result.inside)),
    ]
    from mlir_gemm.tuner.fit import known

    was = known(target(before))
    return rows + [(name, f"{value:.4g} (so far {was[name]:.4g})") for name, value in result.values.items()]
