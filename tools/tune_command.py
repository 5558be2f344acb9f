"""`mlir-gemm tune`: searches schedules with measurements, and keeps what it finds for `compile`."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlir_gemm.bench.modules import module
from mlir_gemm.bench.preparing import shared_cache
from mlir_gemm.bench.problems import ELEMENTS, EPILOGUES, LAYOUTS, RESULTS, Problem
from mlir_gemm.errors import Error
from mlir_gemm.parts.fields import summary
from mlir_gemm.progress import Progress
from mlir_gemm.runtime.auto import why_no_gpu
from mlir_gemm.runtime.own_chip import default_chip
from mlir_gemm.runtime.tuned_files import default_path, this_gpu
from mlir_gemm.runtime.user_files import OFF, data_folder
from mlir_gemm.spec.attributes import CHIP
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model import tuned
from mlir_gemm.tile_model.tuned import Entry, shown_value
from mlir_gemm.tools.files import read_input
from mlir_gemm.tools.json_output import text_of
from mlir_gemm.tools.report import table
from mlir_gemm.tools.terminal import say
from mlir_gemm.usage import UsageError

if TYPE_CHECKING:
    from mlir_gemm.tuner.products import Product
    from mlir_gemm.tuner.study import Result, Search

TRIALS = 50
"""Where no budget is given."""
_ONLY_MNK = ("types", "layouts", "epilogue")


def run(arguments: argparse.Namespace) -> int:
    if arguments.fit is not None:
        return _fit(arguments)
    _check(arguments)
    if importlib.util.find_spec("optuna") is None:
        raise Error("mlir-gemm tune needs Optuna; pip install 'mlir-gemm[tune]'")
    from mlir_gemm.tools import tune_plots
    from mlir_gemm.tuner.products import products_of  # late: all else needs no Optuna

    tune_plots.check(arguments)
    _check_storage(arguments)
    source, filename = _source(arguments)
    chip = arguments.chip if arguments.chip is not None or CHIP in source else default_chip()
    products = products_of(source, filename, chip, arguments.entry, most=arguments.most or 0)
    if not products:
        raise Error("there is no product to tune: none at all, or all have schedule fields that are fixed")
    database = _database(arguments)
    with shared_cache():
        found = [_tune(arguments, source, product, database) for product in products]
    if arguments.json:
        print(text_of(found))
    return 0


def _fit(arguments: argparse.Namespace) -> int:
    from mlir_gemm.tools import fit_command

    if arguments.input is not None or arguments.mnk is not None:
        raise UsageError("--fit takes what was measured: files of sweeps behind it, or the studies of --storage")
    return fit_command.run(arguments)


def _check(arguments: argparse.Namespace) -> None:
    from mlir_gemm.tuner import SAMPLERS
    from mlir_gemm.tuner.measuring import OBJECTIVES

    if (arguments.input is None) == (arguments.mnk is None):
        raise UsageError("name either an INPUT or --mnk M,N,K")
    if arguments.table is not None:
        raise UsageError("--table goes with --fit")
    for option in _ONLY_MNK:
        if getattr(arguments, option) is not None and arguments.mnk is None:
            raise UsageError(f"--{option} goes with --mnk; an INPUT has its own")
    for option, known in (("sampler", SAMPLERS), ("objective", OBJECTIVES)):
        if getattr(arguments, option) not in known:
            raise UsageError(f"--{option} {getattr(arguments, option)}: expected one of {', '.join(known)}")
    if arguments.device == "model" and arguments.objective != "time":
        raise UsageError(f"--objective {arguments.objective} needs a GPU: the model predicts time")


def _source(arguments: argparse.Namespace) -> tuple[str, str]:
    """The module, and what messages call it."""
    if arguments.input is not None:
        return read_input(arguments.input), arguments.input
    kind, _, out = (arguments.types or "f16").partition(",")
    layout, epilogue = arguments.layouts or "NN", arguments.epilogue or "none"
    for option, given, known in (
        ("types", kind, ELEMENTS), ("layouts", layout, LAYOUTS), ("epilogue", epilogue, EPILOGUES),
    ):  # fmt: skip
        if given not in known:
            raise UsageError(f"--{option} {given}: expected one of {', '.join(known)}")
    if kind == "tf32":
        raise UsageError("--types tf32: that is a schedule field, and schedules with fixed fields are not tuned")
    if out and out not in ("f16", "bf16", "f32", "f64", "i32"):
        raise UsageError(f"--types {arguments.types}: a result of f16, bf16, f32, f64 or i32, as in f16,f32")
    if epilogue != "none" and kind in ("s8", "f64"):
        raise UsageError(f"--epilogue {epilogue} goes with f16, bf16, f32 and fp8")
    m, n, k = arguments.mnk
    return module(Problem("custom", m, n, k, kind, out or RESULTS[kind], layout, epilogue)), "-"


def _check_storage(arguments: argparse.Namespace) -> None:
    """Refuses a storage that cannot be used before schedules are looked for, which takes seconds."""
    from mlir_gemm.tuner.storages import open_storage, storage_errors

    if arguments.storage:
        open_storage(arguments.storage)
        return
    folder = _studies()
    with storage_errors(str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(f"{folder} cannot be written to")


def _database(arguments: argparse.Namespace) -> str:
    """The file that what is found goes to; empty for none. Refuses one that could not take it before anything is
    measured."""
    given: str | None = arguments.database
    path = None if given == OFF else Path(given) if given else default_path()
    if path is not None and path.exists():
        tuned.read(str(path))
    return str(path or "")


def _tune(arguments: argparse.Namespace, source: str, product: Product, database: str) -> dict[str, Any]:
    from mlir_gemm.tools import tune_plots
    from mlir_gemm.tuner.databases import shown_storage
    from mlir_gemm.tuner.measured import about
    from mlir_gemm.tuner.study import Budget, Search, study_name

    space = product.space
    measurer, gpu, why = _measurer(arguments, source, product)
    name, drawn, failed = study_name(space, gpu, arguments.objective), "", None
    storage = arguments.storage or str(_studies() / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.journal")
    trials = arguments.trials or (0 if arguments.seconds or arguments.until_expected else TRIALS)
    if arguments.sampler == "exhaustive" and not arguments.trials:
        trials = 0
    budget = Budget(trials, arguments.seconds or 0.0, arguments.until_expected)
    if not arguments.json:
        say(table(_head(product, gpu, why, shown_storage(storage))))
    try:
        with Progress("trials") as bar:

            def progress(tried: int, least: float, model: float) -> None:
                bar.what = f"trials, best {shown_value(arguments.objective, least)}"
                bar.what += f", the model's choice {shown_value(arguments.objective, model)}" if model else ""
                bar(min(tried, trials or len(space.trials)), trials or len(space.trials))

            search = Search(
                space, measurer, storage, name, sampler=arguments.sampler, seed=arguments.seed,
                side_by_side=arguments.jobs or (os.cpu_count() or 1 if measurer.measured else 1), progress=progress,
                about=about(
                    space.problem, space.target.chip, gpu, arguments.objective, space.decisions.rewrites,
                    measurer.measured,
                ),
            )  # fmt: skip
            with _best_so_far(search, arguments.objective):
                result = search.run(budget)
        try:
            if arguments.plots:
                drawn = tune_plots.write(arguments, product, measurer, (storage, name, gpu), result)
        except Error as error:  # what was found is kept first
            failed = error
    finally:
        measurer.close()
    entry = Entry(
        space.problem, space.target.chip, gpu, result.schedule, result.value, result.model_value,
        objective=arguments.objective, measured=measurer.measured,
        date=datetime.date.today().isoformat(),
    )  # fmt: skip
    if not arguments.json:
        say(table(_summary(arguments, result, measurer.measured) + ([("pictures", drawn)] if drawn else [])))
    if not (measurer.measured or arguments.database):  # the model needs no file to predict
        database = ""
    if database:
        try:
            tuned.add(database, [entry])
        except Error as error:
            found = f"what was found: --schedule {result.schedule}"
            error.notes = (*error.notes, found, f"the study: {shown_storage(storage)}")
            raise
        if not arguments.json:
            print(f"wrote {database}", file=sys.stderr)
    if failed is not None:
        raise failed
    return {
        "problem": str(space.problem), "gpu": gpu, "measured": measurer.measured, "objective": arguments.objective,
        "space": len(space.trials), "schedule": result.schedule, "value": result.value,
        "model_value": result.model_value, "tried": result.tried, "done": result.done, "pruned": result.pruned,
        "failed": result.failed, "ended": result.why, "storage": shown_storage(storage), "database": database,
    }  # fmt: skip


def _measurer(arguments: argparse.Namespace, source: str, product: Product) -> tuple[Any, str, str]:
    """What measures, the name of the GPU, and a note where times are predicted."""
    from mlir_gemm.tuner.gpu import OnGpu, Wanted
    from mlir_gemm.tuner.measuring import Predicted
    from mlir_gemm.tuner.worker import Setup

    space = product.space
    why = "as asked" if arguments.device == "model" else why_no_gpu()
    chip, gpu = this_gpu()
    if not why and chip.rstrip("af") != space.target.arch.rstrip("af"):
        why = f"this GPU is {chip}, not {space.target.arch}"
    if why and arguments.device == "gpu":
        raise Error(f"no GPU to measure on: {why}")
    if why:
        if arguments.objective != "time":
            raise Error(f"--objective {arguments.objective} needs a GPU: {why}")
        return Predicted(space), space.target.name, f"predicted times, no measurements: {why}"
    setup = Setup(source, space.target.chip, arguments.entry, arguments.objective, arguments.seed)
    from mlir_gemm.tuner.compiling import Compilers

    compilers = Compilers(arguments.jobs or os.cpu_count() or 1)
    wanted = Wanted(space.problem, space.target.chip, gpu)
    return OnGpu(setup, wanted, compilers, limit=arguments.limit, owned=True), gpu, ""


def _studies() -> Path:
    """Where studies lie if no storage is named."""
    return data_folder() / "studies"


def _head(product: Product, gpu: str, why: str, storage: str) -> list[tuple[str, str]]:
    space = product.space
    rows = [("kernel", product.kernel)] if product.kernel else []
    rows += [("problem", str(space.problem)), ("chip", f"{space.target.chip} ({gpu})")]
    rows += [("rewrites", ", ".join(space.decisions.rewrites))] if space.decisions.rewrites else []
    rows += [("space", f"{len(space.trials)} legal schedules"), ("study", storage)]
    return [*rows, ("note", why)] if why else rows


@contextlib.contextmanager
def _best_so_far(search: Search, objective: str) -> Generator[None]:
    """A storage that fails in the middle of a search, or somebody who ends it, takes nothing with it: the best so far
    is said."""
    from mlir_gemm.tuner.storages import StorageError

    def found() -> str:
        schedule, value = search.best_here
        return f"the best so far, {shown_value(objective, value)}: --schedule {schedule}" if schedule else ""

    try:
        yield
    except StorageError as error:
        error.notes = (*error.notes, *filter(None, [found()]))
        raise
    except KeyboardInterrupt:
        said = ", ".join(filter(None, ["interrupted; the same command goes on", found()]))
        print(said, file=sys.stderr)
        raise


def _summary(arguments: argparse.Namespace, result: Result, measured: bool) -> list[tuple[str, str]]:
    chosen = Schedule.make(Schedule.parse(result.schedule))
    tried = f"{result.tried} schedules: {result.done} {'measured' if measured else 'predicted'}, "
    tried += f"{result.pruned} slow, {sum(result.failed.values())} failed"
    best, model = (shown_value(arguments.objective, each) for each in (result.value, result.model_value))
    times = f"{model}: {result.model_value / result.value:.3f} times as fast" if result.model_value else "failed"
    rows = [("tried", tried), *(("failed", f"{count}: {why}") for why, count in result.failed.items())]
    rows += [("ended", result.why), ("best", f"{best}, the model's choice {times}")]
    return [*rows, ("made of", summary(chosen)), ("schedule", result.schedule)]
