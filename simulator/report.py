"""What a run of the simulator says: findings, counters, and how much was run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from mlir_gemm.simulator.counters import Counters
from mlir_gemm.simulator.warps import Stop

SHOWN = 5
"""Findings of one check at one operation that are kept; the rest are counted."""
MENTIONED = 8
"""Findings in a message."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a kernel."""

    check: str
    """Name of the check: a row of `CHECKS`."""
    operation: str
    location: str
    """Where the operation stands in the source (`file:line:column`)."""
    block: int
    """Linear number of the block, or -1 when it is about the whole grid."""
    warp: int
    lane: int
    """The first lane concerned, or -1 when it is about the whole warp."""
    address: str
    """Buffer, indices and bytes; empty when there is none."""
    message: str

    def __str__(self) -> str:
        lane = f" lane {self.lane}" if self.lane >= 0 else ""
        thread = f"block {self.block} warp {self.warp}{lane}" if self.warp >= 0 else f"block {self.block}"
        where = f" at {self.address}" if self.address else ""
        return f"{self.location}: {self.check}: {self.operation}{where}, {thread}: {self.message}"


CHECKS: dict[str, str] = {
    "race-shared": "two threads access the same shared memory, one writes, and no barrier orders them",
    "race-global": "the same on global memory, within a block or between blocks",
    "uninitialized-shared": "shared memory is read that nobody wrote",
    "uninitialized-output": "an output is read before it is written, or never written",
    "out-of-bounds": "an index outside a memref, or an address outside its buffer",
    "misaligned": "an address that is not a multiple of what the access needs",
    "divergent-barrier": "a barrier that some threads do not reach, or reach elsewhere",
    "divergent-collective": "an operation of the whole warp that not all lanes reach, or with different operands",
    "deadlock": "threads wait for what never comes",
    "endless": "a warp ran more operations than allowed",
    "async-not-awaited": "the target of an asynchronous copy is used before the copy was waited for",
    "proxy": "memory written through one proxy is read through another without a fence",
    "mbarrier": "an mbarrier that is not initialised, overlaps data, or counts other arrivals or bytes than it expects",
    "wgmma-fence": "registers of an accumulator that were touched with no wgmma.fence in front of the next product",
    "wgmma-registers": "registers with A of a product that may be under way are written",
    "ended": "the shared memory of a block of the cluster is touched when the block may have ended",
    "tensor-map": "a tensor map that the driver refuses, or a tensor copy that does not fit it",
    "dependent-launch": "global memory is touched before griddepcontrol.wait, while the kernel in front may use it",
    "word": "a word between blocks that is written with another tag than the next one, or by two",
    "flag": "a flag between blocks that is raised twice, lowered by who did not wait for it, or left up at the end",
    "undefined": "an operation without a defined result, such as a division by zero",
}
"""Every check by name, with what it means."""


@dataclass
class Report:
    """The outcome of one simulation."""

    findings: list[Finding] = field(default_factory=list[Finding])
    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])
    """How often each (check, operation, location) was found, the ones not kept in `findings` included."""
    counters: Counters = field(default_factory=Counters)
    blocks_run: int = 0
    blocks: int = 0
    """Blocks in the grid."""
    warps: int = 0
    """Warps in a block."""
    steps: int = 0
    """Operations executed by all warps."""
    stopped: str = ""
    """Why the run ended early; empty when it ran to its end."""
    first: bool = False
    """Whether the run ends at the first finding."""

    @property
    def checks_found(self) -> set[str]:
        """Names of the checks that found something."""
        return {check for check, _, _ in self.counts}

    def add(self, finding: Finding, times: int = 1) -> None:
        """Counts a finding, and keeps it while there are few of its kind. Raises Stop where one is enough."""
        key = (finding.check, finding.operation, finding.location)
        if self.counts[key] < SHOWN:
            self.findings.append(finding)
        self.counts[key] += times
        if self.first:
            raise Stop("the run was to end at the first finding")

    def __str__(self) -> str:
        lines = [f"{self.blocks_run} of {self.blocks} blocks of {self.warps} warps, {self.steps} operations"]
        if self.stopped:
            lines.append(f"stopped: {self.stopped}")
        lines += [str(finding) for finding in self.findings]
        for (check, operation, location), count in self.counts.items():
            if count > SHOWN:
                lines.append(f"{location}: {check}: {operation}: {count} times, {SHOWN} shown")
        if not self.findings:
            lines.append("no findings")
        if self.counters.instructions:
            lines.append(str(self.counters))
        return "\n".join(lines)


def first_findings(report: Report) -> list[str]:
    """A simulator's report in a few lines: how often each check found something, and the first findings."""
    counts: dict[str, int] = {}
    for (check, _, _), times in report.counts.items():
        counts[check] = counts.get(check, 0) + times
    lines = [f"stopped: {report.stopped}"] if report.stopped else []
    lines += [", ".join(f"{check}: {times}" for check, times in counts.items())] if counts else []
    lines += [str(finding) for finding in report.findings[:MENTIONED]]
    if len(report.findings) > MENTIONED:
        lines.append(f"and {len(report.findings) - MENTIONED} more")
    return lines
