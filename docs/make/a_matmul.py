"""Writes docs/a-matmul.md: one product from linalg.matmul to its instructions, from what the compiler itself prints.

    python docs/make/a_matmul.py            # writes the page
    python docs/make/a_matmul.py --check    # says whether it is what the compiler prints today

A step is a pass and one sentence. What changes is the difference of the IR before and after it in the reading form;
numbers of values do not count as a difference.
"""

from __future__ import annotations

import difflib
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from mlir_gemm.parts.fields import summary
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.passes import UPSTREAM
from mlir_gemm.viewer.trace import Snapshot, Trace

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "examples/matmul_4096.mlir"
PAGE = ROOT / "docs/a-matmul.md"
HOPPER_KINDS = r"wgmma\.\w+|cp\.async\.bulk\.[\w.]+::\w+|mbarrier\.\w+|setmaxnreg\.\w+|griddepcontrol\.\w+"
"""What tells instructions apart of which one is shown."""
WIDEST = 118
"""Characters of a line of IR that are shown."""


@dataclass(frozen=True)
class Step:
    """A pass, a sentence that says why, and what is shown of the difference."""

    name: str
    """Of one of MLIR's own, a piece of its text."""
    why: str
    only: str = ""
    """A regular expression: of the difference only lines in which it is found."""
    most: int = 16
    """Lines that are shown."""
    each: int = 0
    """If not 0, so many lines at most of those in which the expression finds the same."""


def steps(chip: str) -> list[Step]:
    """The steps that are shown for a chip; for sm_80 those in which it goes another way."""
    found = tomllib.loads((Path(__file__).parent / "a_matmul.toml").read_text())
    return [Step(**{**each, "why": " ".join(each["why"].split())}) for each in found[chip]]


def snapshots(chip: str) -> tuple[list[Snapshot], str, str, str]:
    """What changed the product on its way on a chip, its schedule in short and in full, and its PTX."""
    source = SOURCE.read_text()
    trace = Trace(source)
    done = compile_module(source, filename=str(SOURCE), chip=chip, hooks=(trace,))
    assert done.schedule is not None
    return (
        [each for each in trace.snapshots if each.changed],
        summary(done.schedule),
        str(done.schedule).replace(",", ", "),
        done.ptx or "",
    )


def section(step: Step, found: list[Snapshot], schedule: str) -> str:
    """One step, as Markdown."""
    at = next((n for n, each in enumerate(found) if n and _is_step(step, each)), None)
    assert at is not None, f"no pass '{step.name}' changes the product"
    stage, spec = found[at].stage, found[at].spec
    lines = shown(difference(found[at - 1].lines, found[at].lines), step)
    if step.name == "select-schedule":
        lines = [
            f"+ tile.schedule = {line}" if not n else f"+     {line}" for n, line in enumerate(wrap(schedule, 100))
        ]
    assert lines, f"'{step.name}' changes nothing in which '{step.only}' is found"
    name = f"`{step.name}` (MLIR's)" if spec is not None and spec.name == UPSTREAM else f"`{step.name}`"
    return "\n".join([f"### {stage}: {name}", "", *wrap(step.why, 118), "", "```diff", *lines, "```", ""])


def _is_step(step: Step, snapshot: Snapshot) -> bool:
    if snapshot.spec is None:
        return False
    return step.name in str(snapshot.spec) if snapshot.spec.name == UPSTREAM else step.name == snapshot.spec.name


def difference(before: list[str], after: list[str]) -> list[str]:
    """Lines that go and lines that come, with `-` and `+`."""
    keys = [[re.sub(r"%[\w$.-]+(#\d+)?", "%", line.strip()) for line in text] for text in (before, after)]
    found: list[str] = []
    for kind, i, j, k, m in difflib.SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        if kind != "equal":
            found += [f"-{line}" for line in before[i:j]] + [f"+{line}" for line in after[k:m]]
    return found


def shown(lines: list[str], step: Step) -> list[str]:
    """What is shown of a difference: without the common indentation, and with `...` for what is left out."""
    wanted = [line for line in lines if re.search(step.only, line) and line[1:].strip(" }{),")]
    if step.each:
        kinds = [found[0] for line in wanted if (found := re.search(step.only, line))]
        wanted = [line for n, line in enumerate(wanted) if kinds[:n].count(kinds[n]) < step.each]
    indent = min((len(line[1:]) - len(line[1:].lstrip()) for line in wanted), default=0)
    cut = [line[0] + " " + line[1 + indent :] for line in wanted[: step.most]]
    left_out = len(lines) - len(cut)
    rest = [f"  ... and {left_out} more lines"] if left_out > 0 else []
    return [line if len(line) <= WIDEST else line[: WIDEST - 4] + " ..." for line in cut] + rest


def instructions(ptx: str, pattern: str, most: int) -> list[str]:
    """The first instructions of each kind that a pattern finds, shortened."""
    found: dict[str, str] = {}
    for line in ptx.splitlines():
        kind = re.search(pattern, line)
        if kind:
            short = re.sub(r"\{(%\w+), [^}]*, (%\w+)\}", r"{\1, ..., \2}", " ".join(line.split()))
            found.setdefault(kind[0], short)
    return list(found.values())[:most]


def page() -> str:
    """The whole page."""
    hopper, in_short, fields, ptx = snapshots("sm_90a")
    ampere, in_short_80, fields_80, ptx_80 = snapshots("sm_80")
    passes = [sum(each.spec is not None for each in found) for found in (hopper, ampere)]
    parts = [
        "# A matmul, step by step",
        "",
        "<!-- Written by docs/make/a_matmul.py from the compiler's own output; a test checks that it is current. -->",
        "",
        f"A product of f16, 4096 x 4096 x 4096, from `linalg.matmul` to `wgmma`, for sm_90a. {passes[0]} passes change",
        f"it; these {len(steps('sm_90a'))} are the ones to know. Each shows the lines that go (`-`) and come (`+`), in",
        "the [reading form](reading-form.md), and why. To see everything, in a browser:",
        "",
        "```sh",
        "mlir-gemm view examples/matmul_4096.mlir --chip sm_90a -o matmul.html",
        "```",
        "",
        "## What goes in",
        "",
        "```mlir",
        SOURCE.read_text().rstrip(),
        "```",
        "",
        f"The model chooses: {in_short}.",
        "",
        "## The steps",
        "",
        *(section(step, hopper, fields) for step in steps("sm_90a")),
        "### ptx",
        "",
        "MLIR's own passes make LLVM IR of this, and LLVM makes PTX. Of each kind one instruction:",
        "",
        "```ptx",
        *instructions(ptx, HOPPER_KINDS, 14),
        "```",
        "",
        "## For sm_80",
        "",
        "An A100 has no `wgmma` and no copy engine. The model chooses:",
        *wrap(f"{in_short_80}.", 118),
        f"{passes[1]} passes change the product. Up to `accumulate` only sizes of tiles differ. From there on:",
        "",
        *(section(step, ampere, fields_80) for step in steps("sm_80")),
        "### ptx",
        "",
        "```ptx",
        *instructions(ptx_80, r"mma\.sync|ldmatrix|cp\.async\.\w+|bar\.\w+", 8),
        "```",
        "",
        "[one-product.md](one-product.md) follows the same product through the functions of the compiler.",
    ]  # fmt: skip
    return "\n".join(parts) + "\n"


def main() -> int:
    text = page()
    if "--check" in sys.argv:
        same = PAGE.exists() and PAGE.read_text() == text
        print(f"{PAGE.name} is {'current' if same else 'not what the compiler prints: run docs/make/a_matmul.py'}")
        return 0 if same else 1
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
