"""Kernels of rows under schedules of one's own, on the GPU of this machine, beside the model's, PyTorch and a copy.

    python test/gpu/check_row_schedules.py [--plan FILE] [--random N --seed S] [--only TEXT] [--compile-only] [-o OUT]

A line of a plan is a kernel and schedules: `softmax 2048x4096 f16: a256 | a64 d2 | m p`; with `@` before it,
torch.compile is measured too. A schedule is words:

    aN threads side by side along a row   tN threads of a block (as many, at least 128)   vN elements of an access
    cN accesses of a tile (a whole row)   dN rows that a thread has a part of             xN blocks of a cluster
    uN tiles at a time                    s  tiles from aligned addresses on              g  rows in shared memory
    p  all loads first                    y  columns: N accesses down, `a` side by side   m  the model's, changed
    f  copied as one line                 e  evicted first from L2             bN blocks of an SM at least
    nN blocks of the grid                 rN tiles of each that registers keep       kN rows at a time
    oN whether two reductions are exchanged at once (1: maximum and sum, mean and squares)
    +split few long rows in a kernel for each step, as chips without cooperative launches take them
    +early  the first kernel lets the next one start early      +nopdl   no dependent launch
    +evict  loads are evict_first in L2     +keepN but for N hundredths          +stream  stores are evict_first
    +noswitch  words of weights between vectors are chosen as it runs      +even  all blocks of a cluster take all tiles
    +once  of two vectors around a piece one is loaded      +nosel  nothing is chosen: wrong results, what these cost
    +alone  blocks of the grid do not wait for each other: wrong results, what that costs
    +loose  not launched cooperatively: with nothing else on the GPU all blocks run at once anyway
    +luckN  loads of each warp are evict_first, but normal in N of 32 launches, as its clock says

Each result is compared with float64; what is in memory before is NaN. `--random` adds sizes that nobody chose, beside
torch.compile. All times are microseconds: cold and sustained, all of a kernel in turn, bursts in an order that is drawn
anew for each round, after L2 was overwritten: loads that L2 gives up first find there what another schedule has left.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import multiprocessing
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import mlir_gemm
from mlir_gemm.bench.function_measure import error_of
from mlir_gemm.bench.functions import Rows, drawn_rows, of_rows
from mlir_gemm.bench.timing import Timer
from mlir_gemm.dialect.row_passes import RowPasses
from mlir_gemm.passes.lower.unswitch_rows import UnswitchRows
from mlir_gemm.pipeline import importing
from mlir_gemm.pipeline.runner import run_passes
from mlir_gemm.runtime import device
from mlir_gemm.spec.launch import Launch
from mlir_gemm.spec.rows import RowSchedule
from mlir_gemm.tile_model.chips import target

CHIP = "sm_90a"
WIDEST = 16
BYTES = {"f16": 2, "bf16": 2, "f32": 4}
MODEL, EAGER, COMPILE, COPY, SPLIT = "model", "eager", "compile", "copy", "+split"
LEFT_OUT: dict[str, tuple[type, str, Callable[..., Any]]] = {
    "+noswitch": (UnswitchRows, "run", lambda self, module: None),
    "+even": (RowPasses, "is_uneven", lambda self, number: False),
}
"""What is done in place of something that a compilation does."""
WORSE, NOISE = 1.1, 2.0**-22
PLAN = Path(__file__).with_name("row_schedules.txt")

Run = Callable[[], Any]


def schedule(words: list[str], rows: Rows, model: RowSchedule | None) -> RowSchedule | None:
    """The schedule that words describe; None for the model's."""
    given = {word[0]: int(word[1:]) if word[1:] else 1 for word in words if not word.startswith("+")}
    if not given or set(given) == {"m"} or model is None:
        return None
    flags: dict[str, Any] = {
        "prefetch": "p" in given,
        "staged": "g" in given,
        "evict_first": "e" in given,
        "min_blocks": given.get("b", 0),
    }
    if "m" in given:
        changed = {
            "prefetch": "p" in given,
            "evict_first": "e" in given,
            "unroll": given.get("u", model.unroll),
            "min_blocks": given.get("b", model.min_blocks),
            "front": given.get("r", model.front),
            "paired": bool(given.get("o", model.paired)),
        }
        return dataclasses.replace(model, **changed)
    vector, across = given.get("v", WIDEST // BYTES[rows.element]), given["a"]
    threads = given.get("t", max(across, 128))
    groups = threads // across
    if "y" in given:
        return RowSchedule(threads, across, vector, (groups * given["y"], across * vector), transposed=True,
                           unroll=given.get("u", 1), evict_first="e" in given)  # fmt: skip
    shift = vector if "s" in given else 0
    cluster, grid = given.get("x", 1), given.get("n", 0)
    whole = -(-(rows.n + max(shift - 1, 0)) // (vector * across * max(cluster, grid)))
    tile = groups * given.get("d", 1), across * vector * given.get("c", whole)
    line = threads * WIDEST // BYTES[rows.element]
    flat = -(-tile[0] * rows.n // line) * line if "f" in given else 0
    return RowSchedule(threads, across, vector, tile, shift=shift, cluster=cluster, unroll=given.get("u", 1), flat=flat,
                       grid=grid, groups=given.get("k", 0), front=given.get("r", 0),
                       paired=bool(given.get("o", 0)), **flags)  # fmt: skip


def pinned(text: str, chosen: RowSchedule | None) -> str:
    """The kernel's text with a schedule."""
    if chosen is None:
        return text

    def one(value: Any) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        return str(list(value)) if isinstance(value, tuple) else f"{value} : i64"

    fields = ", ".join(f"{name} = {one(value)}" for name, value in chosen.fields().items())
    return re.sub(r"(func\.func @rows\([^{]*\)) \{", rf"\1 attributes {{tile.rows = {{{fields}}}}} {{", text, count=1)


def edited(ptx: str, launch: Launch, edits: list[str]) -> tuple[str, Launch]:
    """Code that is changed by hand, to see what a pass would bring."""
    for edit in edits:
        if edit == "+early":
            ptx = ptx.replace("griddepcontrol.wait;", "griddepcontrol.launch_dependents;\n\tgriddepcontrol.wait;", 1)
        elif edit == "+nopdl":
            ptx = ptx.replace("griddepcontrol.wait;", "")
            steps = tuple(dataclasses.replace(step, dependent_launch=False) for step in launch.steps)
            launch = dataclasses.replace(launch, steps=steps)
        elif edit == "+loose":
            steps = tuple(dataclasses.replace(step, cooperative=False) for step in launch.steps)
            launch = dataclasses.replace(launch, steps=steps)
        elif edit == "+alone":
            ptx = _WAITS.sub(r"\1", ptx)
        elif edit == "+once":
            ptx = _BOTH.sub(_loaded_once, ptx)
        elif edit == "+nosel":
            ptx = re.sub(r"\tselp\.b32 \t(%r\d+), (%r\d+), %r\d+, %p\d+;", r"\tmov.b32 \t\1, \2;", ptx)
        elif edit in (SPLIT, *LEFT_OUT):
            continue
        elif edit == "+stream":
            ptx = _with_policy(ptx, "st", "%stores", "L2::evict_first.b64 %stores, 1.0")
        elif edit.startswith("+luck"):
            ptx = _with_policy(ptx, "ld", "%loads", "L2::evict_first.b64 %loads, 1.0", int(edit[5:]))
        else:
            part = 1 - int(edit[5:] or 0) / 100 if edit.startswith("+keep") else 1.0
            ptx = _with_policy(ptx, "ld", "%loads", f"L2::evict_first.L2::evict_unchanged.b64 %loads, {part}")
    return ptx, launch


_WAITS = re.compile(r"(\$L__BB\d+_\d+:\n\tld\.relaxed(?:(?!\$L__BB).)*?)\n\t@%p\d+ bra \t\$L__BB\d+_\d+;", re.S)
"""A loop that loads words of other blocks until all have been written."""
_LOAD = r"\tld\.global\.v4\.b32 \t\{([^}]*)\}, \[%rd\d+(?:\+(\d+))?\];\n"
_BOTH = re.compile(f"({_LOAD}){_LOAD}")
"""Two loads of vectors after each other."""


def _loaded_once(found: re.Match[str]) -> str:
    """The first of two loads, whose numbers the second's are too, if it is of what lies before it."""
    if int(found[3] or 0) - int(found[5] or 0) != WIDEST:
        return found[0]
    pairs = zip(found[4].split(", "), found[2].split(", "), strict=True)
    return found[1] + "".join(f"\tmov.b32 \t{new}, {old};\n" for new, old in pairs)


def _with_policy(ptx: str, access: str, name: str, policy: str, normal: int = 0) -> str:
    made = f"\t.reg .b64 \t{name};\n\tcreatepolicy.fractional.{policy};\n"
    if normal:
        made += "\t.reg .b64 \t%usual;\n\t.reg .b32 \t%drawn;\n\t.reg .pred \t%lucky;\n"
        made += "\tcreatepolicy.fractional.L2::evict_normal.b64 %usual, 1.0;\n\tmov.u32 \t%drawn, %clock;\n"
        made += f"\tbfe.u32 \t%drawn, %drawn, 4, 5;\n\tsetp.lt.u32 \t%lucky, %drawn, {normal};\n"
        made += f"\tselp.b64 \t{name}, %usual, {name}, %lucky;\n"
    place = re.compile(r"(\n\tgriddepcontrol|\n\tmov\.u32 \t%r\d+, %[ct])")
    ptx = "\n".join(
        re.sub(rf"^(\t(?:@%\w+ )?{access}\.global)((?:\.\w+)* \t.*);$", rf"\1.L2::cache_hint\2, {name};", line)
        for line in ptx.split("\n")
    )
    parts = re.split(r"(?=\.visible \.entry)", ptx)
    for number, part in enumerate(parts[1:], 1):
        where = place.search(part)
        assert where is not None, "no place for a policy"
        parts[number] = part[: where.start() + 1] + made + part[where.start() + 1 :]
    return "".join(parts)


def read_plan(path: Path) -> list[tuple[Rows, list[str], bool]]:
    """The kernels of a plan, each with its schedules, and whether torch.compile is measured."""
    found: list[tuple[Rows, list[str], bool]] = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, rest = line.partition(":")
        kind, size, element = name.removeprefix("@").split()
        m, n = map(int, size.split("x"))
        schedules = [each.strip() for each in rest.split("|") if each.strip()]
        found.append((Rows(kind, m, n, element), schedules, name.startswith("@")))
    return found


def texts(rows: Rows, schedules: list[str]) -> dict[str, tuple[str, list[str]]]:
    """For the model and each schedule the kernel's text, and what is changed by hand."""
    text = of_rows(rows).source
    kernel = mlir_gemm.compile(text, chip=CHIP)
    model = next((each.rows for each in kernel.kernels if each.rows is not None), None)
    found = {MODEL: (text, list[str]())}
    for each in schedules:
        words = each.split()
        found[each] = pinned(text, schedule(words, rows, model)), [word for word in words if word.startswith("+")]
    return found


def compiled(case: tuple[Rows, list[str], bool]) -> dict[str, str]:
    """Compiles all schedules of a kernel into the cache, and the driver's; for each what went wrong."""
    rows, schedules, load = case
    reasons: dict[str, str] = {}
    for name, (text, edits) in texts(rows, schedules).items():
        try:
            kernel = made(text, edits)
            ptx, launch = edited(kernel.ptx, kernel.launch, edits)
            if load:
                device.load(ptx, launch, 0)
            reasons[name] = ""
        except Exception as problem:
            reasons[name] = f"{type(problem).__name__}: {problem}"[:200]
    return reasons


def made(text: str, edits: list[str]) -> Any:
    """A kernel, or, with `+split`, a kernel for each step of few long rows: `import` without what the grid can hold."""
    for edit in edits:
        if edit in LEFT_OUT:
            text = f"// {edit}\n{text}"  # another place in the cache
            where, name, other = LEFT_OUT[edit]
            with mock.patch.object(where, name, other):
                return made(text, [each for each in edits if each != edit])
    if SPLIT in edits:
        passes = importing.passes_for(text, {}, target(CHIP))
        grouped = str(run_passes(text, ["group-rows" if each.name == "group-rows" else str(each) for each in passes]))
        text = grouped.replace("module {", f'module attributes {{tile.chip = "{CHIP}", tile.stage = "import"}} {{', 1)
    return mlir_gemm.compile(text, chip=CHIP)


class Bench:
    """Measures one kernel after another."""

    def __init__(self, torch: Any, seconds: float) -> None:
        self._torch, self._until = torch, time.monotonic() + seconds
        self._timer = Timer(torch, rounds=10, bursts=4, burst_seconds=0.004, apart=True)

    @property
    def out_of_time(self) -> bool:
        return time.monotonic() > self._until

    def measure(self, rows: Rows, schedules: list[str], reasons: dict[str, str], rival: bool) -> dict[str, Any]:
        torch = self._torch
        drawn = of_rows(rows).draw(torch, 0)
        arguments, exact = [*drawn.inputs, *drawn.outputs], drawn.exact()
        runs: dict[str, Run] = {}
        entry: dict[str, Any] = {"case": rows.name, "bytes": of_rows(rows).bytes, "refused": {}, "times": {}}
        least = error_of([drawn.run()], exact)
        for name, (text, edits) in texts(rows, schedules).items():
            if reasons[name]:
                entry["refused"][name] = reasons[name]
                continue
            kernel = made(text, edits)
            if name == MODEL:
                entry["model"] = [str(each.rows) for each in kernel.kernels]
            if edits:
                launcher: Any = kernel.launcher
                launcher._ptx, launcher._launch = edited(launcher._ptx, launcher._launch, edits)
                launcher._whole = launcher._launch
            for out in drawn.outputs:
                out.fill_(math.nan)
            kernel(*arguments)
            error = error_of(drawn.outputs, exact)
            entry["times"][name] = {"error": error, "right": error <= max(WORSE * least, drawn.noise, NOISE)}
            runs[name] = lambda kernel=kernel: kernel(*arguments)
        runs[EAGER] = drawn.run
        if rival:
            torch._dynamo.reset()
            drawn.compiled()
            runs[COMPILE] = drawn.compiled
        source = torch.empty(max(entry["bytes"] // 2, 1), dtype=torch.int8, device="cuda")
        copied = torch.empty_like(source)
        runs[COPY] = lambda: copied.copy_(source)
        with torch.no_grad():
            host = self._timer.host(list(runs.values()))
            cold = self._timer.cold(list(runs.values()), host)
            warm, _ = self._timer.sustained(list(runs.values()), [c.median for c in cold], host, lambda: None)
        for name, one, other in zip(runs, cold, warm, strict=True):
            own = entry["times"].setdefault(name, {})
            own |= {"cold": round(one.median * 1e6, 2), "sustained": round(other.median * 1e6, 2)}
        return entry


def show(entry: dict[str, Any]) -> None:
    """A kernel's times, and their ratios to the model's."""
    times = entry["times"]
    base = times[MODEL]
    print(f"{entry['case']}  {entry['bytes'] / 1e6:.1f} MB  {'; '.join(entry['model'])}", flush=True)
    for name, own in times.items():
        wrong = "" if own.get("right", True) else f"  WRONG {own['error']:.1e}"
        print(f"  {name:24s} {own['sustained']:8.2f} {base['sustained'] / own['sustained']:5.2f}   "
              f"cold {own['cold']:8.2f} {base['cold'] / own['cold']:5.2f}{wrong}", flush=True)  # fmt: skip
    for name, reason in entry["refused"].items():
        print(f"  {name:24s} {reason}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", type=Path, default=PLAN)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1124)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=130.0, help="begin no further kernel after these")
    parser.add_argument("--jobs", type=int, default=min(16, os.cpu_count() or 1))
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("-o", type=Path, default=None)
    options = parser.parse_args()
    start = time.monotonic()
    cases = [case for case in read_plan(options.plan) if options.only in case[0].name]
    cases += [(rows, list[str](), True) for rows in drawn_rows(options.random, options.seed)]
    os.environ.setdefault("MLIR_GEMM_CACHE", tempfile.mkdtemp())
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
        reasons = list(pool.map(compiled, [(*case[:2], not options.compile_only) for case in cases]))
    print(f"{sum(map(len, reasons))} kernels compiled in {time.monotonic() - start:.0f} s", flush=True)
    if options.compile_only:
        for (rows, _, _), own in zip(cases, reasons, strict=True):
            print(rows.name, {name: reason for name, reason in own.items() if reason})
        return int(any(reason for own in reasons for reason in own.values()))
    import torch

    bench = Bench(torch, options.seconds - (time.monotonic() - start))
    entries: list[dict[str, Any]] = []
    failed: list[str] = []
    for (rows, schedules, rival), own in zip(cases, reasons, strict=True):
        if bench.out_of_time:
            print(f"out of time before {rows.name}")
            break
        try:
            entries.append(bench.measure(rows, schedules, own, rival))
            show(entries[-1])
        except Exception as problem:  # the others are worth measuring
            failed.append(f"{rows.name}: {type(problem).__name__}: {problem}"[:300])
            print(failed[-1], flush=True)
        if options.o is not None:
            options.o.write_text(json.dumps({"device": torch.cuda.get_device_name(), "torch": torch.__version__,
                                             "command": sys.argv, "entries": entries}), encoding="utf-8")  # fmt: skip
    wrong = [name for entry in entries for name, own in entry["times"].items() if not own.get("right", True)]
    return 3 if wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main())
