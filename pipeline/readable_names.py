"""Names of kernels that say what they compute, for profilers: `mlp_0_matmul_100x256x64_f16` for `mlp_0_kernel`."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from mlir_gemm.spec.kernel_record import KernelRecord
from mlir_gemm.spec.launch import Launch


def renamed(ptx: str, launch: Launch, kernels: Sequence[KernelRecord]) -> tuple[str, Launch]:
    """PTX and launch information whose entries say what they compute. Nothing but the names changes."""
    names = {launch.steps[each.step].entry: readable(each) for each in kernels if each.step is not None}
    for old, new in names.items():
        ptx = re.sub(rf"(?<![\w$]){re.escape(old)}(?=_param_\d|(?![\w$]))", new, ptx)
    steps = tuple(dataclasses.replace(step, entry=names.get(step.entry, step.entry)) for step in launch.steps)
    return ptx, dataclasses.replace(launch, steps=steps)


def readable(kernel: KernelRecord) -> str:
    """A kernel's name with what it computes, in characters that PTX allows in names."""
    problem, rows = kernel.problem, kernel.row_problem
    what = kernel.kind
    if problem is not None:
        batch = f"{problem.batch}x" if problem.batch > 1 else ""
        what = f"matmul_{batch}{problem.m}x{problem.n}x{problem.k}_{problem.a}"
    elif rows is not None:
        what = f"rows_{rows.rows}x{rows.length * rows.lines}_{rows.element}"
    return re.sub(r"\W", "_", f"{kernel.name}_{what}")
