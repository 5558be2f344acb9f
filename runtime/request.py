"""What the compiler is asked and what it returns: one compilation of a module, from the cache if it is there."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from mlir_gemm.errors import DeviceError
from mlir_gemm.runtime import cache
from mlir_gemm.spec.launch import Launch
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.tuned import Database

if TYPE_CHECKING:
    from mlir_gemm.pipeline.compilation import Compilation

_SIMULATED = "lower"
NOT_LAUNCHED = "rocdl"
"""The back end whose code nothing here launches: it is not made for the simulator either, which takes what `lower`
leaves."""
Pairs: TypeAlias = tuple[tuple[str, int], ...]
"""Values by symbol, in the order of the symbols."""


@dataclasses.dataclass(frozen=True)
class Request:
    """Everything that the compiler is asked."""

    source: str
    filename: str
    chip: str | None
    """None for the one that the source names."""
    schedule: Mapping[str, Any] | None
    hints: Pairs = ()
    """Typical values of sizes that are known at run time only."""
    divisors: Pairs = ()
    """What such sizes are multiples of."""
    entry: str = ""
    """The function to compile, of a module with several that no other calls."""
    strides: str = ""
    """Those of arguments whose strides the source leaves open, as the pass `fix-strides` takes them."""
    lines: bool = False
    """Whether the code says which lines of the source its instructions come from."""
    tuned: Database | None = None
    """Schedules that were found by measuring."""
    until: str = ""
    """The last stage, if not all are to run."""
    simulated: bool = dataclasses.field(default=False, compare=False)
    """Whether the simulator will run it, whose IR is kept then."""
    compiler: Callable[..., Compilation] = dataclasses.field(kw_only=True, repr=False, compare=False)

    def compile(self) -> Compilation:
        """Runs the compiler."""
        kept: dict[str, Any] = {"keep": (_SIMULATED,), "locations": True} if self.simulated else {}
        return self.compiler(
            self.source,
            filename=self.filename,
            chip=self.chip,
            schedule=self.schedule,
            **self._variant(),
            **kept,
            **({"tuned": self.tuned} if self.tuned else {}),
        )

    @property
    def _last(self) -> str:
        """The last stage that runs; empty for all."""
        launched = self.chip is None or target(self.chip).backend != NOT_LAUNCHED
        return self.until or ("" if launched else _SIMULATED)

    def find(self) -> tuple[cache.Artifact, Compilation | None]:
        """What the compiler makes of it, from the cache if it is there."""
        tuned = {"tuned": self.tuned.digest()} if self.tuned else {}
        entry = cache.key(self.source, self.filename, self.chip, self.schedule, {**self._variant(), **tuned})
        artifact = cache.find(entry)
        if artifact is not None:
            return artifact, None
        compilation = self.compile()
        return cache.keep(entry, _artifact(compilation, whole=not self._last)), compilation

    def _variant(self) -> dict[str, Any]:
        fields = {
            "hints": dict(self.hints), "divisors": dict(self.divisors), "entry": self.entry, "strides": self.strides,
            "until": self._last, "lines": self.lines,
        }  # fmt: skip
        return {name: field for name, field in fields.items() if field}


def check_runs(chip: str) -> None:
    """Refuses chips whose code nothing here launches."""
    if target(chip).backend == NOT_LAUNCHED:
        raise DeviceError(
            f"nothing here launches code for {chip}: device='simulator' (--device simulator) runs it on the CPU, and "
            "`mlir-gemm compile --emit hsaco` gives what HIP loads"
        )


def _artifact(compilation: Compilation, *, whole: bool) -> cache.Artifact:
    launch, ptx = compilation.launch or Launch((), ()), compilation.ptx or ""
    assert not whole or (compilation.code is not None and compilation.launch is not None)  # it went to the end
    other = "" if compilation.ptx is not None else compilation.code or ""
    return cache.Artifact(
        compilation.target.chip, ptx, compilation.kernels, launch, tuple(compilation.stages),
        other.encode() if isinstance(other, str) else other, compilation.divisors,
    )  # fmt: skip


class Variant:
    """One compilation of a module: the only one, or that for certain hints and divisors."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.artifact, self._compilation = request.find()

    def __getstate__(self) -> dict[str, Any]:
        """Without what the compiler holds in memory; `ir` compiles again."""
        return {**self.__dict__, "_compilation": None}

    def ir(self, stage: str, locations: bool = False) -> str:
        """The IR after a stage; compiled again if it came from the cache."""
        if self._compilation is None:
            wanted = self.request
            if (stage, locations) == (_SIMULATED, True):
                wanted = dataclasses.replace(wanted, simulated=True, until=_SIMULATED)
            self._compilation = wanted.compile()
        return self._compilation.ir(stage, locations)

    def simulated(self) -> str:
        """The IR that the simulator runs: after `lower`, also where the source was saved after a later stage."""
        if _SIMULATED in self.artifact.stages:
            return self.ir(_SIMULATED, locations=True)
        from mlir_gemm.pipeline.remade import as_before  # late: it imports the MLIR bindings

        return as_before(self.request.source, _SIMULATED)
