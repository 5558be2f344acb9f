"""Results of commands as JSON, for other programs: `--json` of `info`, `explain`, `run` and `compile --report`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mlir_gemm.errors import Error
from mlir_gemm.parts.fields import summary
from mlir_gemm.pipeline.codes import usages
from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.spec.kernel_record import KernelRecord
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.decisions import decide
from mlir_gemm.tile_model.rewriting import Refuses


def text_of(data: Any) -> str:
    """Data as JSON, indented."""
    return json.dumps(data, indent=2, default=str)


def report_data(compilation: Compilation) -> dict[str, Any]:
    """The contents of `report`: times in seconds, sizes in bytes."""
    found = usages(compilation.target, compilation.code)
    launch = compilation.launch
    kernels: list[dict[str, Any]] = []
    for kernel in compilation.kernels:
        entry = None if launch is None or kernel.step is None else launch.steps[kernel.step].entry
        usage = found.get(entry) if found is not None and entry is not None else None
        kernels.append({
            **kernel_data(kernel), "entry": entry,
            "registers": usage and usage.registers, "spill_bytes": usage and usage.spill_bytes,
            "static_shared_bytes": usage and usage.shared_bytes,
        })  # fmt: skip
    return {
        "chip": compilation.target.chip,
        "kernels": kernels,
        "launch": launch and launch.to_json(),
        "ptx_lines": len(compilation.ptx.splitlines()) if compilation.ptx else None,
        "seconds": dict(compilation.timings),
    }


def kernel_data(kernel: KernelRecord) -> dict[str, Any]:
    """What is known of a kernel, its schedule as `--schedule` takes it."""
    made = {**kernel.to_json(), "schedule": kernel.schedule and str(kernel.schedule)}
    return made if kernel.schedule is None else {**made, "summary": summary(kernel.schedule)}


def choice_data(
    problem: Problem,
    target: Target,
    pinned: Mapping[str, Any],
    refuses: Refuses = lambda _: "",
    divisible: bool = True,
) -> dict[str, Any]:
    """The contents of `explain` for a product: predicted times in seconds, the best schedules first."""
    made = decide(problem, target, pinned, refuses, divisible)
    choice = made.choice
    return {
        "problem": vars(problem),
        "chip": target.chip,
        "pinned": dict(made.pinned),
        "rewrites": {name: list(found.why()) for name, found in made.rewrites.items()},
        "missed": list(made.missed),
        "computed": vars(choice.problem),
        "schedule": str(choice.schedule),
        "summary": summary(choice.schedule),
        "seconds": choice.cost.total,
        "terms": {name: getattr(choice.cost, name) for name in (*choice.cost.OVERLAPPING, *choice.cost.ADDITIVE)},
        "considered": choice.considered,
        "ranking": [{"schedule": str(each.schedule), "seconds": each.cost.total} for each in choice.ranking],
    }


def beside_data(
    problem: Problem,
    target: Target,
    pinned: Mapping[str, Any],
    refuses: Refuses = lambda _: "",
    divisible: bool = True,
) -> dict[str, Any]:
    """The contents of `explain` for a product on another chip; `refused` says why there is nothing."""
    try:
        return choice_data(problem, target, pinned, refuses, divisible)
    except Error as error:
        return {"problem": vars(problem), "chip": target.chip, "refused": error.message.splitlines()[0]}
