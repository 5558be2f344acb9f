"""Runs passes, and tells hooks before and after each: the one runner that the driver, `opt` and bisection share.

A hook sees every pass with the stage and the kernel that it runs for: verification, timing, printing and reproducers
are hooks, and so is whatever a user wants to watch.
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect.attributes import verify_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.locations import from_mlir, lacking, relabelled
from mlir_gemm.dialect.parse import COMPILER, parse_module, remember
from mlir_gemm.dialect.tile_limits import check_tiles
from mlir_gemm.dialect.verifier import trusted
from mlir_gemm.errors import Error, InputError, PassError
from mlir_gemm.pipeline.registry import Upstream, parse_passes, pass_of
from mlir_gemm.pipeline.rehearsal import rehearse
from mlir_gemm.spec import extensions
from mlir_gemm.spec.extension_points import PassAt
from mlir_gemm.spec.passes import UPSTREAM, PassSpec


@dataclass(frozen=True)
class Run:
    """One pass on its way."""

    spec: PassSpec
    module: Any
    """What it runs on: the whole module, or a kernel's."""
    stage: str = ""
    """Empty where passes are run by themselves."""
    kernel: str = ""
    """The name of a program's kernel; empty for the whole module."""
    whole: Any = None
    """The outermost module, in which that of a kernel stands."""
    number: int = 0
    """How many passes the runner has run before it."""
    last: bool = True
    """Whether it is the last of the passes that the runner was given together: those of a stage, for one kernel."""

    def __str__(self) -> str:
        return f"{self.kernel}: {self.spec}" if self.kernel else str(self.spec)


class Hook:
    """Base of hooks; both calls do nothing."""

    def before(self, run: Run) -> None:
        """Called before a pass runs."""

    def after(self, run: Run, seconds: float) -> None:
        """Called after it has run. An Error raised here counts as the pass's own."""


class Verify(Hook):
    """Refuses the IR after a pass if it does not verify. Raises PassError."""

    def after(self, run: Run, seconds: float) -> None:
        _verify(run)


@dataclass
class VerifyLists(Hook):
    """As `Verify`, for the compiler's own passes on what they have made themselves: in `import` after each pass, then
    after the last of a list and after each pass that is registered. Before each of MLIR's passes, which trust what they
    are given, everything is verified but the rules of the dialect, of which they know nothing. Verifying after all was
    an eighth of the time of an encoder layer, and the dialect's rules are most of what is left. Which pass is at fault,
    `Verify` tells in a second run; see `reproduce`."""

    open: Run | None = None
    """The last pass, if nobody has verified what it left."""

    def before(self, run: Run) -> None:
        if run.spec.name == UPSTREAM and self.open is not None:
            with trusted():
                _verify(self.open)

    def after(self, run: Run, seconds: float) -> None:
        ours = not any(each.name == run.spec.name for each in extensions.of(PassAt))
        if run.last or run.stage == "import" or not ours:
            self.open = None
            _verify(run)
        else:
            self.open = run


def _verify(run: Run) -> None:
    try:
        run.module.operation.verify()
    except ir.MLIRError as error:
        why = from_mlir(error, "it does not verify")
        message = f"after pass '{run.spec}' the module does not verify: {why.message}"
        raise PassError(message, why.location, why.notes) from None


class Rehearse(Hook):
    """Has the helper process run each of MLIR's own passes first. Raises PassError."""

    def before(self, run: Run) -> None:
        if run.spec.name == UPSTREAM:
            rehearse(run.module, str(run.spec), f"upstream pass '{run.spec}'")


class VerifyAttributes(Hook):
    """Refuses attributes of the compiler that a pass leaves on the wrong operations or with wrong values. Raises
    PassError."""

    def after(self, run: Run, seconds: float) -> None:
        check_attributes(run.module, f"after pass '{run.spec}'")


def check_attributes(module: Any, when: str) -> None:
    """Raises PassError for attributes of the compiler's that are wrong, and says when they were."""
    try:
        verify_attributes(module)
    except InputError as error:
        raise PassError(f"{when}: {error.message}", error.location, error.notes) from None


@dataclass
class Timing(Hook):
    """Notes how long each pass took."""

    rows: list[tuple[str, str, PassSpec, float]] = field(default_factory=list[tuple[str, str, PassSpec, float]])
    """Stage, kernel, pass, seconds; in order."""

    def after(self, run: Run, seconds: float) -> None:
        self.rows.append((run.stage, run.kernel, run.spec, seconds))


@dataclass
class Watch(Hook):
    """Calls a function after each pass that it asks for, with the run and the text of the whole module."""

    wants: Callable[[Run], bool]
    show: Callable[[Run, str], None]

    def after(self, run: Run, seconds: float) -> None:
        if self.wants(run):
            self.show(run, remember(str(run.whole)))


@dataclass
class Capture(Hook):
    """Keeps the text of the module before one pass, by its number."""

    number: int
    text: str = ""

    def before(self, run: Run) -> None:
        if run.number == self.number:
            self.text = str(run.module)


@dataclass
class Runner:
    """Runs passes one after another."""

    hooks: Sequence[Hook] = (Verify(),)
    done: int = 0
    """How many passes have run."""
    between: bool = True
    """Whether MLIR's pass managers verify after each of their passes; hooks verify what a pipeline leaves."""
    failed: Run | None = None
    """The pass that raised something."""

    def run(
        self, module: Any, specs: Iterable[PassSpec], *, stage: str = "", kernel: str = "", whole: Any = None
    ) -> None:
        """Runs passes on a module, in its context. Raises what they raise; `failed` then says which one it was."""
        listed = list(specs)
        for place, spec in enumerate(listed, 1):
            run = Run(spec, module, stage, kernel, whole or module, self.done, last=place == len(listed))
            try:
                self._run(run)
            except BaseException:
                self.failed = run
                raise
            self.done += 1

    def _run(self, run: Run) -> None:
        for hook in self.hooks:
            hook.before(run)
        start = time.perf_counter()
        with run.module.context, ir.Location.unknown():
            made = pass_of(run.spec)
            if isinstance(made, Upstream):
                made.run(run.module, between=self.between)
            else:
                made.run(run.module)
        seconds = time.perf_counter() - start
        for hook in self.hooks:
            hook.after(run, seconds)


def is_bug(error: Exception, run: Run) -> bool:
    """Whether an error of a pass is not the input's fault, so that a reproducer is worth writing. In `import` a
    PassError is how a module is refused."""
    return not isinstance(error, Error) or (isinstance(error, PassError) and run.stage != "import")


def reproduce(error: Exception, runner: Runner, again: Callable[..., object]) -> None:
    """Compiles once more up to the pass that failed, and writes the IR before it to a file that the error names. Before
    that, if not all passes were verified, compiles with all verified, and raises what fails then: an earlier pass may
    be at fault. `again` compiles, with the hooks that it is given."""
    failed = runner.failed
    if failed is None or not is_bug(error, failed) or any(isinstance(hook, Capture) for hook in runner.hooks):
        return
    if not any(isinstance(hook, Verify) for hook in runner.hooks):
        asked = (hook for hook in runner.hooks if isinstance(hook, VerifyAttributes))
        try:
            again(Verify(), *asked)
        except Exception as exact:
            raise exact from None
    captured = Capture(failed.number)
    with contextlib.suppress(Exception):  # fails again in the same way
        again(Verify(), captured)
    for note in leave_reproducer(failed, captured.text) if captured.text else ():
        if isinstance(error, Error):
            error.notes = (*error.notes, note)
        else:
            error.add_note(note)


def leave_reproducer(run: Run, text: str) -> tuple[str, ...]:
    """Writes the IR before a pass to a file of the folder for temporary ones; the notes that name the file and the
    command that runs the pass again, or none where nothing can be written."""
    import hashlib  # late: few passes fail, and these take longer to load than a pass to run
    import shlex

    digest = hashlib.sha256(f"{run.spec}\n{text}".encode()).hexdigest()[:12]
    path = os.path.join(tempfile.gettempdir(), f"mlir-gemm-{run.spec.name}-{digest}.mlir")
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        return ()
    command = shlex.join(["mlir-gemm", "opt", path, str(run.spec)])
    return f"the IR before the pass '{run.spec.name}' is in {path}", f"to run it again: {command}"


def run_passes(
    text: str,
    specs: Sequence[str],
    *,
    filename: str = "-",
    hooks: Sequence[Hook] = (),
    generic: bool = False,
    longest_elements: int | None = None,
    bytecode: bool = False,
    unregistered: bool = False,
) -> str | bytes:
    """Runs passes, given as text, on a module, given as text; verifies after each; returns the module as text: in
    MLIR's generic form if `generic`, with constants of more than `longest_elements` elements left out where that is
    given, or as bytecode. `unregistered` allows operations of dialects that MLIR does not know.

    Raises InputError for a module that does not parse or that a pass refuses, PassError for a pass that does not exist.
    """
    steps = parse_passes(specs)
    with COMPILER, relabelled(filename):
        context = new_context()
        context.allow_unregistered_dialects = unregistered
        module = parse_module(text, filename, context)
        check_tiles(module)
        verify_attributes(module)
        runner = Runner((Rehearse(), Verify(), VerifyAttributes(), *hooks))
        for step in steps:
            with lacking(f"what pass '{step}' is given"):
                runner.run(module, [step])
        if bytecode:
            written = io.BytesIO()
            module.operation.write_bytecode(written)
            return written.getvalue()
        if generic or longest_elements is not None:
            return str(module.operation.get_asm(print_generic_op_form=generic, large_elements_limit=longest_elements))
    return remember(str(module))
