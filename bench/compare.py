"""Compiles products on the GPU's own machine and times them in turn with the vendor's library (through PyTorch).

    python bench/compare.py SET [SET ...] -o RESULTS.json [--schedule TEXT]

Each product runs on random normal data (integers for i8), its result poisoned first, and is compared with float64 on
some of its rows. Timing: L2 overwritten before each run, ours and the library's in turn, medians with quartiles.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import itertools
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from products import module

RUNS = int(os.environ.get("RUNS", "20"))
BOUNDS = {"f32": 1e-5, "f16": 6e-4, "bf16": 5e-3, "f64": 1e-13, "i32": 0.0}
DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i8": "int8", "i32": "int32"}


@dataclass(frozen=True)
class Case:
    """One product and how it is computed."""

    set: str
    m: int
    n: int
    k: int
    kind: str = "f16"
    out: str = "f16"
    orders: str = "NN"
    epilogue: str = "none"
    schedule: str = ""

    def module(self) -> str:
        """Its MLIR."""
        return module(self.m, self.n, self.k, self.kind, self.out, self.orders, self.epilogue)


def targets() -> list[Case]:
    """What was asked of mma_sync and of the other types."""
    found = [
        Case("targets", n, n, n, kind, out)
        for n, kind in itertools.product((4096, 8192), ("f16", "bf16"))
        for out in (kind, "f32")
    ]
    found += [Case("targets", 4096, 4096, 4096, "f16", "f16", "NN", e) for e in ("bias", "bias_gelu", "bias_silu")]
    found += [Case("targets", n, n, n, "f16", "f16", o) for n in (8191, 1000) for o in ("NN", "NT")]
    found += [Case("targets", 4096, 4096, 4096, "f64", "f64", o) for o in ("NN", "NT")]
    found += [Case("targets", 8192, 8192, 8192, "i8", "i32", o) for o in ("NN", "NT")]
    found += [Case("targets", 4096, 4096, 4096, "f32", "f32", o) for o in ("NN", "NT")]
    found += [Case("targets", 4096, 4096, 4096, "f32", "f32", o, schedule="precision=tf32") for o in ("NN", "NT")]
    return found


def sizes() -> list[Case]:
    """The model's own choice over sizes and shapes, f16."""
    squares = [(n, n, n) for n in (128, 256, 512, 1000, 1024, 1536, 2048, 3072, 4096, 8192)]
    others = [
        (16, 8192, 8192), (64, 8192, 8192), (128, 28672, 8192), (4096, 28672, 8192), (64, 2112, 7168),
        (128, 24576, 1536), (4096, 32768, 512), (4096, 7168, 2048), (512, 1024, 128), (1023, 1023, 1023),
        (4095, 4095, 4095), (4088, 4088, 4088),
    ]  # fmt: skip
    return [Case("sizes", m, n, k, "f16", "f16", o) for m, n, k in (*squares, *others) for o in ("NN", "NT")]


def sync() -> list[Case]:
    """Tiles, stages and warps of mma_sync at several squares: what its constants are fitted to."""
    found = []
    tiles = [
        ("128x256x64", "64x64x16"), ("256x128x64", "64x64x16"), ("128x128x64", "64x64x16"), ("128x128x32", "64x64x16"),
        ("128x128x64", "64x32x16"), ("128x64x64", "64x32x16"), ("64x128x64", "32x64x16"), ("64x64x64", "32x32x16"),
        ("64x64x64", "32x64x16"), ("128x64x64", "32x64x16"), ("64x256x64", "64x64x16"), ("64x128x64", "64x32x16"),
        ("32x64x64", "32x32x16"), ("64x32x64", "32x32x16"), ("32x128x64", "32x32x16"), ("64x64x128", "32x32x16"),
        ("64x64x32", "32x32x16"), ("128x128x128", "64x64x16"), ("96x128x64", "48x64x16"), ("128x192x64", "64x96x16"),
        ("192x128x64", "96x64x16"), ("64x64x64", "64x32x16"), ("32x32x64", "16x32x16"), ("32x256x64", "32x64x16"),
    ]  # fmt: skip
    for n in (512, 768, 1024, 1536, 2048, 3072, 4096):
        for (block, warp), stages in itertools.product(tiles, (2, 3, 4, 6)):
            bm, bn, bk = map(int, block.split("x"))
            if stages * 2 * (bm + bn) * bk > 227 * 1024 or (bm * bn > 64 * 128 and n <= 512):
                continue
            for spread in ("on", "off"):
                fields = f"{_sync_schedule(block, warp, str(stages))},spread={spread}"
                found.append(Case("sync", n, n, n, "f16", "f16", "NN", "none", fields))
    return found


def large() -> list[Case]:
    """The best tiles of mma_sync, at squares from 1024 to 8192."""
    tiles = {
        1024: ("64x64x64 64x32x16 4", "64x128x64 64x32x16 4", "64x64x64 32x32x16 3", "128x64x64 64x32x16 6"),
        2048: ("128x128x64 64x64x16 3", "128x256x64 64x64x16 4", "64x256x64 64x64x16 2"),
        4096: ("128x128x64 64x64x16 3", "128x256x64 64x64x16 3", "128x256x64 64x64x16 4", "128x128x32 64x64x16 4"),
        8192: ("128x128x64 64x64x16 3", "128x256x64 64x64x16 3", "128x256x64 64x64x16 4", "256x128x64 64x64x16 3"),
    }
    return [
        Case("large", n, n, n, "f16", out, "NN", "none", _sync_schedule(*each.split()))
        for n, own in tiles.items()
        for out in ("f16", "f32")
        for each in own
    ]


def _sync_schedule(block: str, warp: str, stages: str) -> str:
    return f"operator=mma_sync,copy=cp_async,block={block},warp={warp},stages={stages},layout=xor,pad=0"


def epilogues() -> list[Case]:
    """Fused epilogues next to the plain product, with one and with two blocks on an SM."""
    tiles = ("128x256x64 64x64x16 4", "128x128x64 64x64x16 3")
    return [
        Case("epilogues", n, n, n, "f16", "f16", "NN", epilogue, _sync_schedule(*each.split()))
        for n in (2048, 4096, 8192)
        for epilogue in ("none", "bias", "bias_gelu", "bias_silu")
        for each in tiles
    ]


SETS: dict[str, Callable[[], list[Case]]] = {
    "targets": targets,
    "sizes": sizes,
    "sync": sync,
    "large": large,
    "epilogues": epilogues,
}


def compile_case(work: tuple[Case, str]) -> str | None:
    """Compiles into the cache; the reason if it is refused."""
    import mlir_gemm

    case, chip = work
    try:
        mlir_gemm.compile(case.module(), chip=chip, schedule=case.schedule or None)
    except mlir_gemm.Error as error:
        return str(error)
    return None


def tensors_of(case: Case, torch: Any) -> list[Any]:
    """A, B and what the epilogue reads."""
    generator = torch.Generator("cuda").manual_seed(1)

    def made(shape: tuple[int, ...], dtype: str) -> Any:
        if dtype == "i8":
            return torch.randint(-8, 8, shape, generator=generator, device="cuda", dtype=torch.int8)
        kind = torch.float64 if dtype == "f64" else torch.float32
        return torch.randn(shape, generator=generator, device="cuda", dtype=kind).to(getattr(torch, DTYPES[dtype]))

    a = made((case.m, case.k) if case.orders[0] == "N" else (case.k, case.m), case.kind)
    b = made((case.k, case.n) if case.orders[1] == "N" else (case.n, case.k), case.kind)
    if case.kind != "i8":
        b *= case.k**-0.5  # results near 1, as activations expect them
    return [a, b, *([made((case.n,), case.out)] if "bias" in case.epilogue else [])]


def applied(case: Case, d: Any, bias: Any, torch: Any) -> Any:
    """The epilogue in PyTorch."""
    if bias is not None:
        d = d + bias
    if "gelu" in case.epilogue:
        return torch.nn.functional.gelu(d)
    return torch.nn.functional.silu(d) if "silu" in case.epilogue else d


def library(case: Case, tensors: list[Any], torch: Any) -> Callable[[], Any]:
    """The vendor library's way to the same product, without the epilogue."""
    a, b = tensors[:2]
    a = a if case.orders[0] == "N" else a.T
    b = b if case.orders[1] == "N" else b.T
    torch.backends.cuda.matmul.allow_tf32 = "tf32" in case.schedule
    if case.kind == "i8":
        return lambda: torch._int_mm(a, b)
    if case.kind in ("f16", "bf16") and case.out == "f32":
        return lambda: torch.mm(a, b, out_dtype=torch.float32)
    out = torch.empty(case.m, case.n, dtype=a.dtype, device="cuda")
    return lambda: torch.mm(a, b, out=out)


def error_of(case: Case, result: Any, tensors: list[Any], torch: Any) -> float:
    """Relative Frobenius error against float64 on up to 256 rows."""
    rows = torch.randperm(case.m, device="cuda")[:256]
    a = tensors[0] if case.orders[0] == "N" else tensors[0].T
    b = tensors[1] if case.orders[1] == "N" else tensors[1].T
    wanted = a[rows].double() @ b.double()
    wanted = applied(case, wanted, tensors[2].double() if len(tensors) > 2 else None, torch)
    return float(torch.linalg.norm(result[rows].double() - wanted) / torch.linalg.norm(wanted))


def quartiles(functions: list[Callable[[], Any]], torch: Any) -> list[list[float]]:
    """Quartiles of the seconds of each function, in turn, each after the L2 cache was overwritten."""
    flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
    for function in functions:
        function()
    times: list[list[Any]] = [[] for _ in functions]
    for _ in range(RUNS):
        for function, own in zip(functions, times, strict=True):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            flush.zero_()
            start.record()
            function()
            end.record()
            own.append((start, end))
    torch.cuda.synchronize()
    return [statistics.quantiles([start.elapsed_time(end) / 1e3 for start, end in own]) for own in times]


def measure(group: list[Case], chip: str, torch: Any) -> list[dict[str, Any]]:
    """Checks and times the cases of one problem together."""
    import mlir_gemm

    tensors = tensors_of(group[0], torch)
    found: list[dict[str, Any]] = []
    kernels: list[Any] = []
    for case in group:
        kernel = mlir_gemm.compile(case.module(), chip=chip, schedule=case.schedule or None)
        error = error_of(case, kernel(*tensors), tensors, torch)
        kernels.append(lambda kernel=kernel: kernel(*tensors))
        found.append(
            dataclasses.asdict(case)
            | {"error": error, "right": error <= BOUNDS[case.out] * (200 if "tf32" in case.schedule else 1)}
            | {"full_schedule": str(kernel.schedule), "kernels": len(kernel.launch.steps)}
        )
    *ours, theirs = quartiles([*kernels, library(group[0], tensors, torch)], torch)
    for entry, times in zip(found, ours, strict=True):
        entry.update(seconds=times[1], quartiles=times, library_seconds=theirs[1], library_quartiles=theirs)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", choices=sorted(SETS))
    parser.add_argument("--schedule", default="", help="fields to fix in every case")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 4)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    os.environ["MLIR_GEMM_CACHE"] = tempfile.mkdtemp()
    import torch

    chip = "sm_{}{}".format(*torch.cuda.get_device_capability())
    cases = [case for name in options.sets for case in SETS[name]()]
    if options.schedule:
        cases = [
            dataclasses.replace(case, schedule=",".join(filter(None, (case.schedule, options.schedule))))
            for case in cases
        ]
    with ProcessPoolExecutor(options.jobs) as pool:
        refused = list(pool.map(compile_case, [(case, chip) for case in cases]))
    for case, reason in zip(cases, refused, strict=True):
        if reason:
            print("REFUSED", case, reason[:300])
    groups: dict[tuple[Any, ...], list[Case]] = {}
    for case, reason in zip(cases, refused, strict=True):
        if not reason:
            tf32 = "tf32" in case.schedule
            key = (case.set, case.m, case.n, case.k, case.kind, case.out, case.orders, case.epilogue, tf32)
            groups.setdefault(key, []).append(case)
    entries: list[dict[str, Any]] = []
    for group in groups.values():
        entries += show(measure(group, chip, torch))
    result = {
        "device": torch.cuda.get_device_name(0),
        "driver": torch.version.cuda,
        "torch": torch.__version__,
        "date": datetime.date.today().isoformat(),
        "command": " ".join(sys.argv),
        "entries": entries,
    }
    options.output.write_text(json.dumps(result, indent=0))
    return 0


def show(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Prints the results of one problem, fastest first."""
    for e in sorted(entries, key=lambda entry: entry["seconds"])[:8]:
        flops = 2 * e["m"] * e["n"] * e["k"] / 1e12
        mark = "" if e["right"] else f"  WRONG {e['error']:.1e}"
        print(
            f"{e['m']}x{e['n']}x{e['k']} {e['orders']} {e['kind']}->{e['out']} {e['epilogue']}: "
            f"{flops / e['seconds']:.1f} TFLOP/s, {e['library_seconds'] / e['seconds']:.3f} of the library's "
            f"{flops / e['library_seconds']:.1f}; {e['kernels']} kernels{mark}  {brief(e['full_schedule'])}",
            flush=True,
        )
    return entries


def brief(schedule: str) -> str:
    """The fields of a schedule that tell most."""
    wanted = ("block", "warp", "operator", "copy", "stages", "layout", "group", "vector")
    return " ".join(field.split("=")[1] for field in schedule.split(",") if field.split("=")[0] in wanted)


if __name__ == "__main__":
    sys.exit(main())
