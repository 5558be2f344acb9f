"""Two guards for a change that should change nothing: the same schedules are chosen, and pinned schedules give the same
PTX and launch information, byte for byte.

    python test/guards/compare.py compare            # everything; exit status 1 and a list where something changed
    python test/guards/compare.py compare --only choices --match 'sm_80$'
    python test/guards/compare.py record             # writes down how things are now; --missing: of new cases only
    python test/guards/compare.py list               # chooses the schedules of the pinned kernels again

The listed set (`cases.py`, `kinds.py`): the benchmark's list, 260 random problems of seed 14, the modules of the tests
and examples, and kernels of every kind. What is kept lies beside this file, one line a case:

    choices.txt   NAME | CHIP | hash of what was decided
    pinned.txt    NAME | CHIP | SOURCE | the schedule, or one for each product, in full
    kernels.txt   NAME | CHIP | hash of the PTX | hash of the launch information

pytest compares a sample of it (`test/python/test_guards.py`); before a merge that renames or moves code, run `compare`.

The PTX is LLVM's, so `kernels.txt` says in its first line which version of the bindings wrote it. With another one,
compare a change with the commit before it: `record` there, `compare` here.

`record` is legitimate where a commit means to change choices or code. It says so, says how many cases changed, and why
that is right: `compare` first, read the list, then `record`, and commit the files with the change. A choice that
changes leaves pinned kernels alone, so that `choices.txt` and `kernels.txt` seldom change in the same commit. `list` is
for cases that are added, and for pinned schedules that are no longer legal; it writes `pinned.txt`, after which
`record` is needed. A rename of fields or attributes changes no hash: it changes `canonical.py` and, by a script, the
names in `pinned.txt` and `kinds.py`.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import TypeVar
from zlib import crc32

from mlir_gemm.spec.attributes import SCHEDULE

sys.path.insert(0, str(Path(__file__).parent))

import cases
import sources
from canonical import decisions, digest, hashed, launched, lengthened, shortened
from cases import Case

from mlir_gemm.dialect import bindings
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import COMPILER, parse_module
from mlir_gemm.errors import Error
from mlir_gemm.pipeline import annotations
from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.program import is_program, kind_of, nested_kernels, outer_function
from mlir_gemm.progress import Progress
from mlir_gemm.spec.kernel_record import PRODUCT
from mlir_gemm.spec.schedule import Schedule

T = TypeVar("T")

HERE = Path(__file__).parent
CHOICES, PINNED, KERNELS = HERE / "choices.txt", HERE / "pinned.txt", HERE / "kernels.txt"
BETWEEN = " | "
NOTE = "#"
"""What a line begins with that is no case."""
PRODUCTS = " ; "
"""Between the schedules of a module's products."""


def choice(case: Case) -> Compilation:
    """A module with its schedules chosen."""
    return compile_module(sources.source(case.source), chip=case.chip, schedule=_fields(case), until="select")


def choice_hash(case: Case) -> tuple[str, ...]:
    """What is kept of a choice."""
    try:
        return (hashed(decisions(choice(case).kernels)),)
    except Error as error:
        return (f"refused: {type(error).__name__}",)


def kernel_hashes(case: Case) -> tuple[str, ...]:
    """What is kept of a pinned case: hashes of its PTX and of its launch information."""
    try:
        compiled = pinned(case)
    except Error as error:
        return (f"refused: {type(error).__name__}", "")
    assert compiled.ptx is not None and compiled.launch is not None
    return digest(compiled.ptx), hashed(launched(compiled.launch.to_json()))


def pinned(case: Case) -> Compilation:
    """A pinned case, compiled."""
    source, schedules = sources.source(case.source), [lengthened(text) for text in case.fields.split(PRODUCTS)]
    if len(schedules) == 1:
        return compile_module(source, chip=case.chip, schedule=schedules[0])
    return compile_module(_annotated(source, case.chip, schedules), chip=case.chip)


def _annotated(source: str, chip: str, schedules: Sequence[Mapping[str, object]]) -> str:
    """The module after `import`, with the schedule of each product on its function."""
    imported = compile_module(source, chip=chip, until="import", keep=("import",)).ir("import")
    with COMPILER:
        module = parse_module(imported, "-", new_context())
        kernels = [each for _, each in nested_kernels(module)] if is_program(module) else [module]
        functions = [outer_function(kernel) for kernel in kernels]
        products = [function for function in functions if kind_of(function) == PRODUCT]
        with module.context, ir.Location.unknown():
            for function, schedule in zip(products, schedules, strict=True):
                function.attributes[SCHEDULE] = annotations.dictionary(schedule)
        return str(module)


def with_schedules(case: Case) -> Case | None:
    """The case with the schedules that the model chooses, in full; None where it has none."""
    try:
        found = [kernel.schedule for kernel in choice(case).kernels if kernel.schedule is not None]
    except Error as error:
        print(f"{case.key}: {error.message}", file=sys.stderr)
        return None
    return Case(case.name, case.source, case.chip, PRODUCTS.join(map(shortened, found)))


def _fields(case: Case) -> dict[str, object]:
    return Schedule.parse(case.fields)


def pinned_cases() -> list[Case]:
    """The kernels in the list."""
    found: list[Case] = []
    for line in _lines(PINNED):
        name, chip, source, fields = line.split(BETWEEN)
        found.append(Case(name, source, chip, fields))
    return found


def _lines(path: Path) -> list[str]:
    lines = path.read_text().splitlines() if path.exists() else []
    return [line for line in lines if not line.startswith(NOTE)]


def assembler() -> str:
    """What writes the PTX: the bindings that are installed, whose LLVM it is, and their version."""
    distribution = bindings.PACKAGE.partition(".")[0].replace("_", "-")
    try:
        return f"{NOTE} PTX by {distribution} {metadata.version(distribution)}"
    except metadata.PackageNotFoundError:
        return f"{NOTE} PTX by {distribution} of an unknown version"


def recorded_by() -> str:
    """What wrote the PTX whose hashes are kept."""
    first = KERNELS.read_text().partition("\n")[0] if KERNELS.exists() else ""
    return first if first.startswith(NOTE) else ""


def kept(path: Path) -> dict[str, tuple[str, ...]]:
    """The hashes of a file, by the key of the case."""
    lines = (line.split(BETWEEN) for line in _lines(path))
    return {BETWEEN.join(line[:2]): tuple(line[2:]) for line in lines}


GUARDS: dict[str, tuple[Path, Callable[[], list[Case]], Callable[[Case], tuple[str, ...]]]] = {
    "choices": (CHOICES, cases.chosen, choice_hash),
    "kernels": (KERNELS, pinned_cases, kernel_hashes),
}
"""By name: where hashes are kept, the cases, and what hashes one."""


def sample(listed: Iterable[Case], count: int) -> list[Case]:
    """So many of the cases: always the same ones, of all kinds."""
    return sorted(listed, key=lambda case: crc32(case.key.encode()))[:count]


def differences(guard: str, listed: Iterable[Case], now: Mapping[str, tuple[str, ...]]) -> list[str]:
    """What to say of each case whose hashes are not those that are kept."""
    before, schedules = kept(GUARDS[guard][0]), {case.key: case.fields for case in pinned_cases()}
    found: list[str] = []
    for case in listed:
        old, new = before.get(case.key), now[case.key]
        if old == new:
            continue
        if old is None:
            found.append(f"{case.key}: not recorded")
        elif guard == "choices":
            known = f"\n  was {schedules[case.key]}" if case.key in schedules else ""
            found.append(f"{case.key}: another choice{known}\n  now {_shown(case)}")
        else:
            parts = [what for what, a, b in zip(("PTX", "launch information"), old, new, strict=True) if a != b]
            refused = f" ({new[0]})" if new[0].startswith("refused") else ""
            found.append(f"{case.key}: other {' and '.join(parts)}{refused}\n  {case.source}\n  {case.fields}")
    return found


def _shown(case: Case) -> str:
    try:
        found = [kernel for kernel in choice(case).kernels if kernel.schedule is not None]
        return PRODUCTS.join(f"{shortened(kernel.schedule)} for {kernel.problem}" for kernel in found)
    except Error as error:
        return f"refused: {error.message}"


def _all(work: Callable[[Case], T], items: Sequence[Case], what: str, jobs: int) -> list[T]:
    """The work on all items, by several processes where there is more than one."""
    if jobs == 1:
        return [work(item) for item in items]
    found: list[T] = []
    with Progress(what) as progress, ProcessPoolExecutor(jobs) as pool:
        for each in pool.map(work, items, chunksize=4):
            found.append(each)
            progress(len(found), len(items))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("mode", choices=("compare", "record", "list"))
    parser.add_argument("--only", choices=tuple(GUARDS), help="one of the two guards")
    parser.add_argument("--match", metavar="REGEX", help="compare only cases whose 'NAME | CHIP' it is found in")
    parser.add_argument("--missing", action="store_true", help="record, or list, what is not there yet")
    parser.add_argument(
        "--jobs", type=int, default=min(os.cpu_count() or 1, 8), help="processes (default: %(default)s)"
    )
    given = parser.parse_args(arguments)
    if given.match and given.mode != "compare":
        parser.error(f"--match goes with compare: {given.mode} writes whole files")
    if given.missing and given.mode == "compare":
        parser.error("--missing goes with record and list")
    if given.mode == "list":
        _list(given.jobs, given.missing)
        return 0
    changed = 0
    for name in [given.only] if given.only else GUARDS:
        if given.mode == "record":
            _record(name, given.jobs, given.missing)
        else:
            changed += _compare(name, given.jobs, given.match)
    return 1 if changed else 0


def _list(jobs: int, missing: bool) -> None:
    wanted = cases.to_pin()
    known = {case.key: case for case in pinned_cases()} if missing else {}
    new = _all(with_schedules, [case for case in wanted if case.key not in known], "kernels", jobs)
    found = [known[case.key] for case in wanted if case.key in known] + [case for case in new if case is not None]
    _write(PINNED, [(case.key, case.source, case.fields) for case in found])


def _record(guard: str, jobs: int, missing: bool) -> None:
    path, listed, hashes = GUARDS[guard]
    wanted = listed()
    known = kept(path) if missing and (path != KERNELS or recorded_by() == assembler()) else {}
    new = [case for case in wanted if case.key not in known]
    found = {case.key: known[case.key] for case in wanted if case.key in known}
    found |= zip((case.key for case in new), _all(hashes, new, guard, jobs), strict=True)
    _write(path, [(key, *each) for key, each in found.items()], assembler() if path == KERNELS else "")
    print(f"{guard}: {len(new)} recorded, of {len(wanted)}")


def _compare(guard: str, jobs: int, match: str | None) -> int:
    """How many cases differ; says which."""
    if guard == "kernels" and recorded_by() != assembler():
        print(f"recorded: {recorded_by()}; here: {assembler()}. Another version may write other PTX of the same kernel")
    path, listed, hashes = GUARDS[guard]
    here = [case for case in listed() if re.search(match or "", case.key)]
    now = dict(zip((case.key for case in here), _all(hashes, here, guard, jobs), strict=True))
    found = differences(guard, here, now)
    if not match:
        found += [f"{key}: no longer listed" for key in sorted(kept(path).keys() - now.keys())]
    print("\n".join([*found, f"{guard}: {len(found)} of {len(here)} differ from what is recorded"]))
    return len(found)


def _write(path: Path, lines: Iterable[tuple[str, ...]], note: str = "") -> None:
    first = f"{note}\n" if note else ""
    path.write_text(first + "".join(sorted(f"{BETWEEN.join(line)}\n" for line in lines)))


if __name__ == "__main__":
    sys.exit(main())
