"""`mlir-gemm tune --plots DIR`: one HTML page and PNGs of a study."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlir_gemm.errors import Error
from mlir_gemm.tools.bench_output import made
from mlir_gemm.tools.files import write_outputs
from mlir_gemm.tuner.pictures import available, draw
from mlir_gemm.tuner.portability import DEVICES, Matrix, matrix
from mlir_gemm.tuner.storages import known_storage
from mlir_gemm.tuner.study_page import page
from mlir_gemm.tuner.tried import Known, runs_of
from mlir_gemm.usage import UsageError

if TYPE_CHECKING:
    from mlir_gemm.tuner.measuring import Measurer
    from mlir_gemm.tuner.products import Product
    from mlir_gemm.tuner.study import Result


def check(arguments: argparse.Namespace) -> None:
    """Refuses what cannot be drawn, before anything is measured."""
    for option in ("beside", "devices"):
        if getattr(arguments, option) and not arguments.plots:
            raise UsageError(f"--{option} goes with --plots DIR")
    if arguments.plots and not available():
        raise Error("--plots needs matplotlib; pip install 'mlir-gemm[plots]'")
    if arguments.plots:
        from mlir_gemm.tile_model.chips import target

        for name in _devices(arguments):
            target(name)  # refuses a device that there is not
        made(Path(arguments.plots))
    for each in {*(arguments.beside or ())} - {arguments.storage}:
        known_storage(each)


def write(
    arguments: argparse.Namespace, product: Product, measurer: Measurer, names: tuple[str, str, str], result: Result
) -> str:
    """Draws a study, whose storage, name and GPU are `names`; the page's path. Raises Error."""
    storage, name, gpu = names
    space = product.space
    runs = runs_of([storage, *(arguments.beside or ())], name, space)
    known = Known(space, arguments.objective, measurer.measured, gpu, runs, result.schedule)
    portable = _portability(arguments, known, measurer)
    pictures = draw(known, portable)
    folder = made(
        Path(arguments.plots) / re.sub(r"\W+", "-", product.kernel) if product.kernel else Path(arguments.plots)
    )
    index = folder / "index.html"
    outputs: dict[str, str | bytes] = {str(folder / file): data for file, data in pictures.values()}
    write_outputs(outputs | {str(index): page(known, pictures, portable)})
    return shlex.quote(str(index))


def _devices(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Devices by name; figures of one (`h100,sms=100`) are not for this list."""
    given: str = arguments.devices or ""
    return tuple(each.strip() for each in given.split(",")) if given else DEVICES


def _portability(arguments: argparse.Namespace, known: Known, measurer: Measurer) -> Matrix | None:
    """The matrix of the product as the model computes it, without a swap of operands, which would be another product.
    On a GPU the other devices' variants are measured too, where they are legal."""
    if arguments.objective not in ("time", "cold"):
        return None
    space = known.space
    choice = space.decisions.choice
    given: dict[str, Any] = {"own": space.target.chip}
    if "swap_ab=on" not in known.best and not choice.pinned.get("swap_ab"):
        given["best"] = known.best
    found = matrix(choice.problem, _devices(arguments), **given)
    if not measurer.measured:
        return found
    return matrix(choice.problem, _devices(arguments), measured=_measured(known, found, measurer), **given)


def _measured(known: Known, found: Matrix, measurer: Measurer) -> dict[str, float]:
    """Values of the variants on this GPU, by schedule: from the study, or measured now, each checked first. Cells of
    those that fail stay predicted."""
    from mlir_gemm.tuner.measuring import FAILED

    trials = known.space.trials
    values = {trials[place].schedule: value for place, value in known.values.items()}
    least = values.get(known.best, 0.0)
    for variant in dict.fromkeys(found.variants):
        if variant in values or variant in known.reasons or measurer.prepare([variant]):
            continue
        outcome = measurer.measure(variant, known.best if least else "", least)
        if outcome.state != FAILED and outcome.value:
            values[variant] = outcome.value
    return values
