"""Elementwise kernels as text, and what runs them: through the stages, in the simulator, and to PTX."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.pipeline import emission
from mlir_gemm.pipeline.elementwise import elementwise_passes
from mlir_gemm.pipeline.launch_info import launch_of
from mlir_gemm.pipeline.registry import parse_pass
from mlir_gemm.pipeline.runner import Runner
from mlir_gemm.simulator.kernel import Options, simulate
from mlir_gemm.spec.stages import STAGES
from mlir_gemm.tile_model.chips import target

NUMPY: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32}
NVVM = (
    "nvvm-attach-target{chip=sm_80 O=3},gpu.module(expand-strided-metadata,lower-affine,convert-scf-to-cf,"
    "convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=1 index-bitwidth=64},canonicalize,cse,"
    "reconcile-unrealized-casts)"
)


def memref(shape: tuple[int, ...], element: str) -> str:
    return f"memref<{''.join(f'{size}x' for size in shape)}{element}>"


def function(arguments: list[tuple[str, str]], lines: str) -> str:
    """An elementwise kernel; each argument is (type, role)."""
    signature = ", ".join(
        f'%{name}: {type_} {{tile.role = "{role}"}}' for name, (type_, role) in zip("abcdefgh", arguments, strict=False)
    )
    return f'func.func @main({signature}) attributes {{tile.kind = "elementwise"}} {{\n{lines}\n  return\n}}'


def generic(maps: list[str], kinds: str, ins: list[str], outs: list[str], body: str) -> str:
    """A linalg.generic; operands as `%name : type`; `kinds` has a `p` or an `r` for each loop."""
    iterators = ", ".join({"p": '"parallel"', "r": '"reduction"'}[kind] for kind in kinds)
    dims = ", ".join(f"d{place}" for place in range(len(kinds)))
    affine = ", ".join(f"affine_map<({dims}) -> ({map_})>" for map_ in maps)

    def group(name: str, operands: list[str]) -> str:
        if not operands:
            return ""
        names, types = zip(*(operand.split(" : ") for operand in operands), strict=True)
        return f"{name}({', '.join(names)} : {', '.join(types)})"

    return (
        f"  linalg.generic {{indexing_maps = [{affine}], iterator_types = [{iterators}]}} {group('ins', ins)} "
        f"{group('outs', outs)} {{\n{body}\n  }}"
    )


def compile_elementwise(text: str, until: str = "lower") -> Any:
    module = parse_module(text, "-", new_context())
    for stage in STAGES[STAGES.index("tile") : STAGES.index(until) + 1]:
        for step in elementwise_passes(stage, target("sm_80")):
            Runner().run(module, [step])
            module.operation.verify()
    return module


def run(text: str, *arrays: Any) -> Any:
    """Runs a kernel in the simulator, with all checks; asserts that there are no findings, and that there is PTX."""
    module = compile_elementwise(text)
    names = [str(operand) for operand in launch_of(module).parameters]
    assert len(names) == len(set(names))
    report = simulate(str(module), arrays, Options(checks=True))
    assert not report.findings, report.findings[0]
    assert ".extern" not in ptx(text)
    return report


def ptx(text: str) -> str:
    module = compile_elementwise(text)
    Runner().run(module, [parse_pass("select-math")])
    Runner().run(module, [parse_pass(NVVM)])
    with ir.Location.unknown(module.context):
        return emission.ptx(module)


def numbers(rng: Any, shape: tuple[int, ...], element: str) -> Any:
    dtype = NUMPY[element]
    return (rng.integers(-8, 8, shape) if np.dtype(dtype).kind == "i" else rng.standard_normal(shape)).astype(dtype)
