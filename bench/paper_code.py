"""How many instructions of the machine code a product's kernel executes, by kind: counted in what ptxas makes, without
a GPU.

A kernel here has one loop over k, and all tensor instructions of the product are known in number; so how often the loop
is walked follows from how many of them stand in it and around it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping

from mlir_gemm.bench.problems import Problem
from mlir_gemm.pipeline.assembler import disassembled

_LINE = re.compile(r"^\s*(?:(\.L\w+):|/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)\s*([^;]*);)", re.M)
_TENSOR = re.compile(r"HMMA\.(16|8)(8)(16|8|4)\.")
"""M, N and K of a tensor instruction of f16, as machine code names it: `HMMA.16816.F32`."""


def executed(ptx: str, chip: str, problem: Problem, warps: int) -> Mapping[str, int]:
    """Warps' instructions by kind (`HMMA`, `LDSM`, ...), the most executed first, of a kernel with `warps` warps in its
    whole grid. Empty where nothing can disassemble it, or where the tensor instructions do not stand in one loop."""
    text = disassembled(ptx, chip)
    return _executed(text, problem, warps) if text else {}


def _executed(text: str, problem: Problem, warps: int) -> Mapping[str, int]:
    labels: dict[str, int] = {}
    names: list[str] = []
    back: list[tuple[int, int]] = []
    for label, name, rest in _LINE.findall(text):
        if label:
            labels[label] = len(names)
            continue
        goal = re.search(r"\.L\w+", rest)
        if name.startswith("BRA") and goal and goal[0] in labels:
            back.append((labels[goal[0]], len(names) + 1))
        names.append(name)
    loops = [(start, end) for start, end in back if any(map(_TENSOR.match, names[start:end]))]
    found = next((shape for name in names if (shape := _TENSOR.match(name))), None)
    if len(loops) != 1 or found is None:
        return {}
    (start, end) = loops[0]
    inside, outside = Counter(map(_kind, names[start:end])), Counter(map(_kind, names[:start] + names[end:]))
    whole = problem.m * problem.n * problem.k // math.prod(map(int, found.groups()))
    times, left = divmod(whole // warps - outside["HMMA"], inside["HMMA"])
    if left or whole % warps:
        return {}
    total = Counter({name: outside[name] + times * inside[name] for name in inside | outside})
    return {name: warps * count for name, count in total.most_common()}


def _kind(name: str) -> str:
    """An instruction without what follows its name."""
    return name.partition(".")[0]
