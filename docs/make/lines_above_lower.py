"""Counts the lines above `lower` that changed for other vendors' targets, from the history, and why: the table of
docs/targets.md.

    python docs/make/lines_above_lower.py    # needs the whole history

"Above" is all that a product goes through up to the stage `lower`: the passes of these stages, the dialect, parts and
the model, the lists of passes, the data that all share. Files that only these targets have are counted apart.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMITS: dict[str, str] = {
    "2195967": "a wave of 64 lanes is a unit, as warps and warpgroups are",
    "68c35b0": "back ends as data: a row says what follows `lower`",
    "8ab3f37": "`mfma` and `rdna_wmma`",
    "4d3b7cb": "AMD's rows; registers that LLVM allocates",
    "5ae84c6": "rows in shared memory only where they fit, which was wrong on sm_75 too",
    "190c496": "`simt` takes more registers where LLVM allocates them",
    "8c565b9": "names of capabilities; dialects loaded late",
    "30559a7": "L1 apart from shared memory",
    "7ba92a8": "`rasterize-blocks` divides in 32 bits where indices have no more",
    "4aa08ea": "refusals name what the chip has",
    "4bad997": "`coop_matrix`; `sink-init` adds C at the end",
    "b2c7751": "`coop_matrix` of bytes: zeros of integers",
    "6aac78e": "the rival of an operator is one of the same chip",
    "01d8e75": "a launch says which checks a kernel reports",
}
"""The commits, and what they were for."""
STAGES = (
    "importing", "select", "tile", "fuse", "promote", "tensorize", "accumulate", "pipeline", "parallelize",
    "distribute", "describe", "launch",
)  # fmt: skip
"""The folders of the passes of stages above `lower`."""
AREAS: dict[str, tuple[str, ...]] = {
    "passes": tuple(f"passes/{stage}/" for stage in STAGES),
    "dialect": ("dialect/",),
    "parts and model": ("parts/", "tile_model/"),
    "lists of passes": tuple(f"pipeline/{name}.py" for name in ("product", "rows", "reduction", "elementwise")),
    "shared data": ("spec/",),
}
"""Paths by what they hold. The rest of `pipeline/` is the driver: what it does after `lower`, and outputs."""
OWN = (
    "parts/mma/mfma.py", "parts/mma/rdna_wmma.py", "parts/mma/coop_matrix.py", "parts/waves.py",
    "tile_model/amd_chips.py", "tile_model/other_chips.py", "spec/backends.py", "dialect/spirv_kernels.py",
)  # fmt: skip
"""Files that only these targets have."""


def changed(commit: str) -> dict[str, tuple[int, int]]:
    """Lines added and removed in each file by a commit. Raises where the history is not there."""
    command = ["git", "-C", str(ROOT), "show", "--numstat", "--format=", "--no-renames", commit]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("-")]
    return {path: (int(added), int(removed)) for added, removed, path in rows}


def main() -> int:
    print(f"| for | {' | '.join(AREAS)} |\n|{'---|' * (1 + len(AREAS))}")
    sums, own = {area: [0, 0] for area in AREAS}, 0
    for commit, reason in COMMITS.items():
        found = changed(commit)
        own += sum(added for path, (added, _) in found.items() if path in OWN)
        cells: list[str] = []
        for area, places in AREAS.items():
            lines = [both for path, both in found.items() if path.startswith(places) and path not in OWN]
            added, removed = (sum(each[side] for each in lines) for side in range(2))
            sums[area] = [sums[area][0] + added, sums[area][1] + removed]
            cells.append(f"+{added} -{removed}" if lines else "")
        print(f"| {reason} ({commit}) | {' | '.join(cells)} |")
    print(f"| **together** | {' | '.join(f'+{added} -{removed}' for added, removed in sums.values())} |")
    added, removed = (sum(each[side] for each in sums.values()) for side in range(2))
    print(f"\n+{added} -{removed} in all, beside {own} lines of files that only these targets have")
    return 0


if __name__ == "__main__":
    sys.exit(main())
