"""The simulator beside a real GPU: `python test/gpu/check_simulator.py`. Exit status 1 if they differ too much.

Compiles schedules of every kind, runs each kernel on the GPU and on the simulator with the same random inputs, and
prints the largest difference, relative to the largest element of the result. Both round operands, accumulator and
result the same way; only the order of the additions inside a tensor-core operation differs, and with it the last bits.
Needs a GPU, and mlir-gemm installed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from cases import Case, correctness

import mlir_gemm
from mlir_gemm.errors import Error
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.kernel import Options, simulate
from mlir_gemm.spec.schedule import Schedule

LARGEST = 128 * 128 * 128
"""Multiplications of the largest case run: the simulator's work."""
WANTED = 60
BOUNDS = {"f32": 2e-6, "f16": 2e-3}
"""Largest difference allowed, relative to the largest element: a few units in the last place."""
DTYPES = {"f16": np.float16, "f32": np.float32}


def difference(case: Case) -> float | None:
    """The largest relative difference of the two results, None for a schedule that is refused."""
    fields = Schedule.parse(case.schedule)
    try:
        compilation = compile_module(case.module(), chip="sm_90", schedule=fields, keep=("lower",))
    except Error:
        return None
    launch = compilation.launch
    assert launch is not None
    random = np.random.default_rng(case.m + case.n + case.k)
    arrays = [random.standard_normal(a.shape).astype(DTYPES[a.dtype]) for a in launch.arguments]
    simulated = [array.copy() for array in arrays]
    report = simulate(compilation.ir("lower"), simulated, Options())
    if report.findings:
        raise SystemExit(f"{case}: the simulator found\n{report}")
    kernel = mlir_gemm.compile(case.module(), chip="sm_90", schedule=fields)
    given = [array.copy() for array, a in zip(arrays, launch.arguments, strict=True) if a.role != "result"]
    returned = kernel(*given)
    on_gpu = returned if returned is not None else given[-1]
    expected = on_gpu.astype(np.float64)
    return float(np.abs(simulated[-1].astype(np.float64) - expected).max() / np.abs(expected).max())


def main() -> int:
    worst: dict[str, tuple[float, Case]] = {}
    done = wrong = 0
    for case in correctness("sm_90"):
        if done == WANTED or case.m * case.n * case.k > LARGEST:
            continue
        found = difference(case)
        if found is None:
            continue
        done += 1
        wrong += found > BOUNDS[case.out]
        worst[case.out] = max(worst.get(case.out, (0.0, case)), (found, case), key=lambda pair: pair[0])
        print(f"{found:.1e}  {case.form} {case.out} {case.m}x{case.n}x{case.k} {case.schedule or 'model'}", flush=True)
    for out, (found, case) in worst.items():
        print(f"largest difference, {out} output: {found:.2e} at {case.m}x{case.n}x{case.k} {case.schedule or 'model'}")
    print(f"{done} kernels on both, {wrong} beyond the bound")
    return 1 if wrong or done < 30 else 0


if __name__ == "__main__":
    sys.exit(main())
