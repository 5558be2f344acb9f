"""Compiles and runs the modules that PyTorch exported on the GPU of this machine.

    python check_modules.py [-o RESULTS.json]

Inputs are random; each result is compared with the float64 reference of `test/modules/cases.py`, which was checked
against PyTorch when the modules were exported.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

MODULES = Path(__file__).parent.parent / "modules"
DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i8": "int8"}


def cases() -> tuple[Any, ...]:
    """The table beside the modules."""
    spec = importlib.util.spec_from_file_location("modules_cases", MODULES / "cases.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.CASES


def inputs(case: Any, torch: Any) -> list[Any]:
    """Random tensors on the GPU; weights are scaled so that results stay near 1."""
    generator = torch.Generator("cuda").manual_seed(len(case.name))
    if case.dtype == "i8":
        return [
            torch.randint(-128, 128, shape, generator=generator, device="cuda", dtype=torch.int8)
            for shape in case.shapes
        ]
    found: list[Any] = []
    for number, shape in enumerate(case.shapes):
        made = torch.randn(shape, generator=generator, device="cuda", dtype=torch.float64)
        found.append((made * (0.3 if number else 1.0)).to(getattr(torch, DTYPES[case.dtype])))
    return found


def error(found: Any, wanted: Any) -> float:
    """Relative error in the Frobenius norm; infinite where a result is no number."""
    values = found.double().cpu().numpy()
    if values.shape != wanted.shape or not np.isfinite(values).all():
        return float("inf")
    return float(np.linalg.norm(values - wanted) / np.linalg.norm(wanted))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    import torch

    import mlir_gemm

    rows: list[dict[str, Any]] = []
    for case in cases():
        arguments = inputs(case, torch)
        row: dict[str, Any] = {"name": case.name}
        rows.append(row)
        try:
            kernel = mlir_gemm.compile(MODULES / f"{case.name}.mlir", device="gpu")
            results = kernel(*arguments)
        except mlir_gemm.Error as problem:
            row["refused"] = str(problem)
            print("REFUSED", case.name, problem)
            continue
        wanted = case.reference(*(array.double().cpu().numpy() for array in arguments))
        if not isinstance(wanted, tuple):
            results, wanted = (results,), (wanted,)
        row["kernels"] = len(kernel.kernels)
        row["errors"] = [error(found, want) for found, want in zip(results, wanted, strict=True)]
        row["right"] = max(row["errors"]) <= case.tolerance
        shown = " ".join(f"{each:.1e}" for each in row["errors"])
        print(
            f"{'right' if row['right'] else 'WRONG'} {case.name}: {row['kernels']} kernels, error {shown}", flush=True
        )
    wrong = [row["name"] for row in rows if not row.get("right")]
    print(f"{len(rows) - len(wrong)} of {len(rows)} right")
    if options.output:
        options.output.write_text(json.dumps({"device": torch.cuda.get_device_name(0), "rows": rows}, indent=0))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
