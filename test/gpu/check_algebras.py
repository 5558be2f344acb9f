"""Runs products by other algebras than plus and times of numbers on the GPU of this machine, and compares them with
NumPy; then measures some at a size beside the rate of the instruction that limits them, which is measured too.

    python test/gpu/check_algebras.py [--count 400] [--seed 5] [--size 4096] [-o RESULTS.json]

Inputs are small whole numbers, so that results must be equal. Results get memory that held NaN. Exit status 1 where one
is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from random_algebras import Case, drawn

MEASURED = {
    "min_plus": ("f32", "f32", "min.NaN.f32", 1), "max_plus": ("f16", "f16", "max.NaN.f16x2", 2),
    "max_times": ("f32", "f32", "max.f32", 1), "l1": ("f32", "f32", "add.f32", 0.5),
    "l2": ("f32", "f32", "add.f32", 0.5), "min_plus_i": ("i32", "i32", "min.s32", 1),
    "or_and": ("i32", "i32", "lop3.b32", 1), "hamming": ("i32", "i32", "popc.b32", 1),
    "xor_and": ("i8", "i8", "lop3.b32", 4),
}  # fmt: skip
"""By the algebra: operand, accumulator, the instruction that limits it, and elements of k that one does:
half a one where a term takes two."""
CHAINS, REPEATED, TURNS, BLOCKS, THREADS = 16, 32, 400, 8, 256
ROUNDS, LAUNCHES = 5, 5


def compile_one(case: Case) -> str:
    """Compiles into the cache; what is wrong, if something is."""
    import mlir_gemm

    try:
        mlir_gemm.compile(case.module(), chip="sm_90a")
    except mlir_gemm.Error as error:
        return str(error)
    except Exception as error:  # a fault of the compiler, to be reported with its case
        return f"INTERNAL {type(error).__name__}: {error}"
    return ""


def instruction_ptx(name: str) -> str:
    """A kernel of chains of one instruction, which no assembler can shorten: each takes its own and its neighbour's."""
    kind = "f" if name.endswith("f32") else "b" if name.endswith("x2") else "r"
    type_ = ".f32" if kind == "f" else ".b32"
    more = {"popc.b32": "", "lop3.b32": ", %v{j}, %v{k}, 0x6a"}.get(name, ", %v{j}")
    one = f"{name} %v{{i}}, %v{{i}}{more};"
    numbers = range(CHAINS)
    body = "\n".join(one.format(i=i, j=(i + 1) % CHAINS, k=(i + 2) % CHAINS) for _ in range(REPEATED) for i in numbers)
    loads = "\n".join(f"ld.global{type_} %v{i}, [%p+{4 * i}];" for i in range(CHAINS))
    stores = "\n".join(f"st.global{type_} [%p+{4 * i}], %v{i};" for i in range(CHAINS))
    return f"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry chains(.param .u64 memory) {{
  .reg {type_} %v<{CHAINS}>;
  .reg .u64 %p;
  .reg .u32 %t;
  .reg .pred %q;
  ld.param.u64 %p, [memory];
  {loads}
  mov.u32 %t, 0;
TURN:
  {body}
  add.u32 %t, %t, 1;
  setp.lt.u32 %q, %t, {TURNS};
  @%q bra TURN;
  {stores}
  ret;
}}
"""


def seconds(call: Any, torch: Any, count: int = LAUNCHES) -> float:
    """The median time of a call."""
    found: list[float] = []
    for _ in range(ROUNDS):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(count):
            call()
        stop.record()
        torch.cuda.synchronize()
        found.append(start.elapsed_time(stop) / count / 1e3)
    return median(found)


def instruction_rate(name: str, torch: Any) -> float:
    """Instructions of a lane in a second, on the whole GPU."""
    from cuda.bindings import driver

    def done(result: Any) -> Any:
        assert result[0] == driver.CUresult.CUDA_SUCCESS, result
        return result[1] if len(result) == 2 else None

    module = done(driver.cuModuleLoadData(instruction_ptx(name).encode() + b"\0"))
    function = done(driver.cuModuleGetFunction(module, b"chains"))
    memory = torch.ones(64, device="cuda")
    argument = np.array([memory.data_ptr()], np.uint64)
    pointers = np.array([argument.ctypes.data], np.uint64)
    blocks = BLOCKS * torch.cuda.get_device_properties(0).multi_processor_count

    def call() -> None:
        stream = torch.cuda.current_stream().cuda_stream
        done((*driver.cuLaunchKernel(function, blocks, 1, 1, THREADS, 1, 1, 0, stream, pointers.ctypes.data, 0), None))

    call()
    torch.cuda.synchronize()
    return blocks * THREADS * TURNS * REPEATED * CHAINS / seconds(call, torch)


def check(case: Case, torch: Any, seed: int) -> str:
    """What is wrong with a case, if something is."""
    import mlir_gemm

    kernel = mlir_gemm.compile(case.module(), chip="sm_90a")
    inputs = case.inputs(seed)
    # NumPy's bfloat16 is none that PyTorch takes: through f32, which holds it.
    narrow = {"bf16": torch.bfloat16}
    types = [case.operand, case.operand, case.acc]
    given = [torch.from_numpy(each.astype(np.float32)).to("cuda", narrow[type_]) if type_ in narrow
             else torch.from_numpy(each).cuda() for each, type_ in zip(inputs, types, strict=True)]  # fmt: skip
    poison = torch.full((given[2].numel() * 8,), 0x7F, dtype=torch.uint8, device="cuda")
    del poison
    found = kernel(*given).double().cpu().numpy()
    wanted = case.reference(*inputs).astype(np.float64)
    wrong = int((found != wanted).sum())
    return f"{wrong} of {wanted.size} elements differ" if wrong else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    os.environ["MLIR_GEMM_CACHE"] = tempfile.mkdtemp()
    large = {name: Case(name, operand, acc, options.size, options.size, options.size)
             for name, (operand, acc, _, _) in MEASURED.items()}  # fmt: skip
    cases = list(drawn(options.seed, options.count))
    with ProcessPoolExecutor() as pool:
        refused = dict(zip([*cases, *large.values()], pool.map(compile_one, [*cases, *large.values()]), strict=True))
    import torch

    import mlir_gemm

    wrong: list[str] = []
    for number, case in enumerate(cases):
        why = refused[case] or check(case, torch, number)
        if why:
            wrong.append(f"{case}: {why}")
            print("WRONG", wrong[-1])
    print(f"{len(cases) - len(wrong)} of {len(cases)} are right")
    rows: list[dict[str, Any]] = []
    for name, case in large.items():
        if refused[case]:
            print(name, refused[case])
            continue
        kernel = mlir_gemm.compile(case.module(), chip="sm_90a")
        given = [torch.from_numpy(each).cuda() for each in case.inputs(1)]
        took = seconds(lambda kernel=kernel, given=given: kernel(*given), torch)
        _, _, instruction, each = MEASURED[name]
        limit = instruction_rate(instruction, torch) * each
        rate = case.m * case.n * case.k / took
        row = {"algebra": name, "types": f"{case.operand}->{case.acc}", "us": took * 1e6, "terms_per_s": rate,
               "limit": instruction, "limit_per_s": limit, "of_limit": rate / limit}  # fmt: skip
        rows.append(row)
        print(f"{name:12} {row['types']:10} {took * 1e6:9.1f} us {rate / 1e12:7.2f} T terms/s, "
              f"{rate / limit:.2f} of {instruction} ({limit / 1e12:.2f} T/s)", flush=True)  # fmt: skip
    if options.output:
        device = torch.cuda.get_device_name()
        found = {"device": device, "wrong": wrong, "cases": len(cases), "rows": rows}
        options.output.write_text(json.dumps(found, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
