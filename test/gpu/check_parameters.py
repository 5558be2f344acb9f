"""Where operands, C and results are staged, how, tiles that a block walks, and fragments that are loaded ahead, on the
GPU of this machine.

    python test/gpu/check_parameters.py [--count 320] [--jobs 16] [--seconds 140] [--quick | --rings | --added]
                                        [--compile-only] [-o RESULTS.json]

First random products with random ones of these fields, for chips of several generations, whose PTX a later GPU runs:
whole numbers, compared exactly with float64, with guard zones and outputs that start as NaN (`check_products.py`). Then
times of some sizes with each field beside the model's choice without them: `mma_sync` and `simt` in code for sm_80,
`mma_sync` in code for sm_75, in turn, the median of rounds; each result is compared with float64 first. The table has
how many times as fast each is, and in brackets what the model predicts of it on that chip; `chosen` is what the model
takes. `--quick` times fewer sizes and fields, and more mmas. `--rings` draws more products for rings and `wmma`, and
times what goes with these: tiles that blocks walk, layouts of B, C by block tiles, what is read in place, fragments
ahead; it needs an H100 or an H200. `--added` times products whose epilogue adds a matrix, which `promote_c` reads
through shared memory; it needs one too. Exit status 1 where a result is wrong.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from check_products import compile_one, run_one
from launch_times import microseconds
from random_products import EPILOGUES, Product

from mlir_gemm.parts.fields import normalised
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import estimate, select

F64 = "mma=mma_sync,block=64x64x16,warp=32x32x8,instruction=16x8x8"
MMAS = (
    ("sm_80", "f16", "mma=mma_sync,block=64x64x32,warp=32x32x16"),
    ("sm_80", "f16", "mma=mma_sync,block=128x64x64,warp=64x32x16"),
    ("sm_80", "i8", "mma=mma_sync,block=64x64x64,warp=32x32x32"),
    ("sm_80", "tf32", "mma=mma_sync,block=64x64x32,warp=32x32x8"),
    ("sm_90", "f64", F64),
    ("sm_90", "bf16", "mma=mma_sync,block=32x64x32,warp=16x32x16"),
    ("sm_75", "f16", "mma=mma_sync,block=64x64x32,warp=32x32x8"),
    ("sm_75", "i8", "mma=mma_sync,block=64x64x32,warp=32x32x16"),
    ("sm_70", "f16", "mma=mma_m8n8k4,block=64x64x32,warp=32x32x4"),
    ("sm_70", "f32", "mma=simt,block=64x64x16,warp=32x32x8"),
    ("sm_70", "i8", "mma=dp4a,block=64x64x32,warp=32x32x8"),
    ("sm_70", "f16", "mma=wmma,block=64x64x32,warp=32x32x16"),
    ("sm_80", "f16", "mma=wmma,block=64x64x32,warp=32x32x16"),
)
RINGS = (
    ("sm_90a", "f16", "mma=wgmma,block=128x64x64,warp=64x64x64"),
    ("sm_90a", "f16", "mma=mma_sync,mainloop=tma,block=64x64x64,warp=32x32x16"),
    ("sm_90a", "bf16", "mma=wgmma,block=64x128x64,warp=64x128x64,ping_pong=on"),
    *MMAS[-2:],
    ("sm_80", "f16", "mma=mma_sync,block=64x64x32,warp=32x32x16"),
    ("sm_80", "f32", "mma=simt,block=64x64x16,warp=32x32x8"),
)
"""Chips, kinds of products, and tiles of an mma."""
LOOPS = ("mainloop=direct", "mainloop=register_prefetch", "mainloop=register_prefetch,stages=2",
         "mainloop=cp_async,stages=2", "mainloop=cp_async,stages=3,interleave=off")  # fmt: skip
RING_LOOPS = ("stages=2", "stages=3", "stages=4,cluster_m=2")
WALKS = ("tiles_per_block=2", "tiles_per_block=3,sequential_tiles=off", "tiles_per_block=4")
LAYOUTS = ("layout=xor,layout_b=pad", "layout=pad,layout_b=xor", "layout=mn_major,layout_b=pad")
STAGED = ("", "", "promote_a=off", "promote_b=off", "promote=off")
OUTS = {"i8": ("i32",), "f64": ("f64",), "bf16": ("f32", "bf16"), "f32": ("f32",), "tf32": ("f32",)}
SIZES = (
    (512, 512, 512, "kn"), (1024, 1024, 1024, "nk"), (2048, 2048, 2048, "kn"), (4096, 4096, 4096, "nk"),
    (4096, 4096, 256, "kn"), (8192, 8192, 64, "nk"), (256, 4096, 4096, "nk"), (4096, 256, 1024, "kn"),
    (1024, 1024, 8192, "nk"), (128, 8192, 512, "kn"), (3072, 768, 1536, "kn"), (640, 5120, 896, "nk"),
)  # fmt: skip
"""M, N, K and the order of B of what is timed."""
FIELDS = (
    "promote_a=off", "promote_b=off", "promote=off,mainloop=direct,stages=1,layout=pad,pad=8", "promote_result=on",
    "promote_c=on", "promote_c=on,promote_result=on", "fragments_ahead=on", "fragments_ahead=on,promote_result=on",
)  # fmt: skip
ADDED_FIELDS = ("promote_c=on", "promote_c=on,promote_result=on", "promote_result=on")
"""What is timed where the epilogue adds a matrix, with `--added`."""
TIMED = (("sm_80", "f16", "f16", "mma_sync"), ("sm_80", "f32", "f32", "simt"), ("sm_75", "f16", "f16", "mma_sync"))
QUICK = (
    ("sm_80", "f16", "f16", "mma_sync"), ("sm_80", "f16", "f32", "mma_sync"), ("sm_90", "bf16", "bf16", "mma_sync"),
    ("sm_75", "f16", "f16", "mma_sync"), ("sm_70", "f16", "f16", "mma_m8n8k4"),
)  # fmt: skip
"""Chips, types of operands and of results, and mmas that are timed."""
OFFERED = {"promote_result": False, "fragments_ahead": False}
"""What the model may add to a choice, without it."""
RINGS_TIMED = (
    ("sm_90a", "f16", "f16", "mma=wgmma"),
    ("sm_90a", "f16", "f32", "mma=wgmma,block=128x128x64,warp=64x128x64,stages=3"),
    ("sm_90a", "f16", "f16", "mma=mma_sync,mainloop=tma,block=128x128x64,warp=64x32x16,stages=3"),
    ("sm_80", "f16", "f32", "mma=wmma"), ("sm_80", "f16", "f16", "mma=mma_sync"), ("sm_80", "f32", "f32", "mma=simt"),
)  # fmt: skip
RING_SIZES = (
    (1024, 1024, 1024, "kn"), (2048, 2048, 2048, "kn"), (4096, 4096, 4096, "kn"), (4096, 4096, 256, "kn"),
    (1024, 1024, 8192, "kn"),
)  # fmt: skip
RING_FIELDS = (
    "tiles_per_block=2,persistent=0", "tiles_per_block=2,sequential_tiles=off,persistent=0",
    "tiles_per_block=4,sequential_tiles=off,persistent=0,raster=diagonal", "layout=xor,pad=0,layout_b=pad,pad_b=8",
    "layout=pad,pad=8,layout_b=xor", "layout=mn_major,pad=4,layout_b=pad,pad_b=4", "fragments_ahead=on",
    "promote_a=off", "promote_b=off", "promote_result=on", "promote_c=on",
)  # fmt: skip
ROUNDS, BURST_US = 5, 2500
LIMITS = {"f16": 2e-3, "bf16": 1e-2, "f32": 1e-5}
DEPTH = 4096
"""Up to which k: beyond, the errors of sums in f32 by tensor cores grow with it."""


def drawn_ring(number: int) -> tuple[Product, str, str]:
    """The same of rings, and of what else walks tiles, or has B in a layout of its own."""
    rng = random.Random(f"rings {number}")
    chip, kind, tiles = RINGS[number % len(RINGS)]
    plain, ring, group = "wmma" in tiles, chip == "sm_90a", "wgmma" in tiles
    loop, c, staged = rng.choice(RING_LOOPS if ring else LOOPS), rng.random() < 0.4, rng.choice(STAGED[:4])
    staged = "" if group else staged
    sizes = [128, 256, 384, 512] if plain or staged or "cluster" in loop else [8, 72, 104, 200, 264, 512]
    product = Product(
        *(rng.choice(sizes) for _ in "mnk"), kind,
        out="f32" if plain or c else rng.choice(OUTS.get(kind, ("f32", "f16"))),
        b_order=rng.choice(("kn", "nk")), batch=0 if plain else rng.choice((0, 0, 2)),
        pad=rng.choice((None, 8)), epilogue="accumulate" if c else rng.choice(("none",) if plain else EPILOGUES),
    )  # fmt: skip
    fields = [tiles, loop, staged]
    fields += [rng.choice(WALKS)] * (rng.random() < 0.6 or "ping_pong" in tiles)
    added = c or ("residual" in product.epilogue and not plain and rng.random() < 0.7)
    fields += ["promote_c=on"] * (added and "ping_pong" not in tiles)
    fields += ["promote_result=on"] * (rng.random() < 0.3 and not group)
    fields += ["fragments_ahead=on"] * (rng.random() < 0.5 and not group)
    fields += [rng.choice(LAYOUTS[: 3 if "simt" in tiles else 2])] * (rng.random() < 0.5 and not plain and not ring)
    if group and added and rng.random() < 0.7:  # by the copy engine, in turns too
        fields = [each for each in fields if each != "promote_c=on"] + ["promote_c=on,prefetch_c=on"]
    return product, chip, ",".join(filter(None, fields))


def drawn(number: int) -> tuple[Product, str, str]:
    """A product, a chip and a schedule; few are refused."""
    rng = random.Random(f"parameters {number}")
    chip, kind, tiles = MMAS[number % len(MMAS)]
    plain, recent = "wmma" in tiles, chip >= "sm_80"
    loop, staged = rng.choice(LOOPS if recent else LOOPS[:3]), rng.choice(STAGED)
    if staged == "promote=off":
        loop = LOOPS[0]
    sizes = [rng.choice((128, 256, 384) if plain or staged else (1, 33, 65, 100, 128, 257)) for _ in "mnk"]
    product = Product(
        *sizes, "f32" if kind == "tf32" else kind, out="f32" if plain else rng.choice(OUTS.get(kind, ("f32", "f16"))),
        a_order=rng.choice(("mk", "km")), b_order=rng.choice(("kn", "nk")),
        batch=0 if plain else rng.choice((0, 0, 2)), pad=rng.choice((None, 8) if plain else (None, 0, 1, 8)),
        epilogue=rng.choice(("none", "accumulate") if plain else EPILOGUES),
    )  # fmt: skip
    fields = [tiles, loop, staged]
    fields += ["precision=tf32"] * (kind == "tf32")
    added = product.epilogue == "accumulate" or ("residual" in product.epilogue and not plain)
    fields += ["promote_c=on"] * (added and rng.random() < 0.7)
    fields += ["promote_result=on"] * (rng.random() < 0.5)
    fields += ["fragments_ahead=on"] * (rng.random() < 0.6 and not plain and staged != "promote=off")
    fields += ["tiles_per_block=2", "tiles_per_block=3,sequential_tiles=off"][rng.randrange(2) : 2][:1] * (
        rng.random() < 0.2 and not plain
    )
    return product, chip, ",".join(filter(None, fields))


def check(count: int, jobs: int, seconds: float, compile_only: bool, rings: bool) -> dict[str, Any]:
    """Compiles and runs random products; what was refused or wrong."""
    cases = [(drawn_ring if rings else drawn)(number) for number in range(count)]
    start = time.perf_counter()
    with ProcessPoolExecutor(jobs) as pool:
        refused = list(pool.map(compile_one, cases, chunksize=2))
    found: dict[str, Any] = {"right": 0, "refused": 0, "others": []}
    for number, ((product, chip, text), reason) in enumerate(zip(cases, refused, strict=True)):
        if reason and "no legal schedule" in reason:
            found["refused"] += 1
            continue
        wrong = reason
        if not reason and not compile_only:
            if time.perf_counter() - start > seconds:
                break
            wrong = _run(product, chip, text, number)
        found["right"] += wrong is None
        if wrong is not None:
            found["others"].append({**dataclasses.asdict(product), "chip": chip, "fields": text, "wrong": wrong})
            print("WRONG", chip, product, text, wrong[:300], flush=True)
    print(f"{count} products in {time.perf_counter() - start:.0f} s", flush=True)
    print(f"{found['right']} right, {found['refused']} refused, {len(found['others'])} others", flush=True)
    return found


def _run(product: Product, chip: str, text: str, number: int) -> str | None:
    import torch

    try:
        return run_one(product, chip, text, torch, number)
    except Exception as error:  # to be reported with its case
        return f"{type(error).__name__}: {error}"


@dataclasses.dataclass(frozen=True)
class Timed:
    """One product as the model has it, and with one field changed."""

    size: tuple[int, int, int, str]
    chip: str
    kind: str
    out: str
    fields: str
    text: str
    """The whole schedule."""
    predicted: float
    """Times as fast as the model's choice."""
    added: bool = False
    """Whether the epilogue adds a matrix."""

    @property
    def product(self) -> Product:
        m, n, k, order = self.size
        if self.added:
            return Product(m, n, k, self.kind, out=self.out, b_order=order, epilogue="residual",
                           added="" if self.out == "f32" else self.out)  # fmt: skip
        c = "accumulate" if "promote_c" in self.fields or self.fields == "c" else "none"
        return Product(m, n, k, self.kind, out=self.out, b_order=order, epilogue=c)


def timed(quick: bool = False, rings: bool = False) -> list[list[Timed]]:
    """What is timed: for each size and mma the model's choice without what it may add, with that, and what else is
    legal."""
    found: list[list[Timed]] = []
    fields = RING_FIELDS if rings else FIELDS
    for chip, kind, out, mma in RINGS_TIMED if rings else QUICK if quick else TIMED:
        for size in RING_SIZES if rings else SIZES[1:7] if quick or chip != "sm_80" else SIZES:
            m, n, k, order = size
            for starts in (False,) if quick else (False, True)[: 1 + (out == "f32" or not rings)]:
                problem = Problem(m, n, k, kind, kind, out=out, reads_c=starts and out == "f32", b_order=order)
                pinned = Schedule.parse(mma if "=" in mma else f"mma={mma}")
                chosen = select(problem, target(chip), pinned).schedule
                base = chosen.replace(**OFFERED)
                asked = dataclasses.replace(problem, reads_c=True) if starts else problem
                seconds = estimate(asked, base, target(chip)).total
                group = [Timed(size, chip, kind, out, "c" if starts else "", str(base), 1.0)]
                changes = {text: Schedule.parse(text) for text in fields if ("promote_c" in text) == starts}
                changes |= {"chosen": {name: chosen.value(name) for name in OFFERED}} if chosen != base else {}
                for text in [each for each in changes if not quick or "=off" not in each]:
                    changed = normalised(base.replace(**changes[text]), {})
                    if violations(asked, changed, target(chip)):
                        continue
                    ratio = seconds / estimate(asked, changed, target(chip)).total
                    group.append(Timed(size, chip, kind, out, text, str(changed), ratio))
                if len(group) > 1:
                    found.append(group)
    return found


def timed_added() -> list[list[Timed]]:
    """The same of products whose epilogue adds a matrix of the result's type, which is read by lanes or through shared
    memory."""
    found: list[list[Timed]] = []
    wgmma = ("sm_90a", "f16", "f16", "wgmma")
    for chip, kind, out, mma in (TIMED[0], TIMED[2], wgmma):
        for size in SIZES[1:7]:
            m, n, k, order = size
            problem = Problem(m, n, k, kind, kind, out=out, reads_c=False, b_order=order, epilogue_ops=7,
                              epilogue_matrices=1, epilogue_types=out)  # fmt: skip
            base = select(problem, target(chip), {"mma": mma, "ping_pong": False}).schedule.replace(**OFFERED)
            seconds = estimate(problem, base, target(chip)).total
            group = [Timed(size, chip, kind, out, "", str(base), 1.0, added=True)]
            for text in ADDED_FIELDS:
                changed = normalised(base.replace(**Schedule.parse(text)), {})
                if not violations(problem, changed, target(chip)):
                    ratio = seconds / estimate(problem, changed, target(chip)).total
                    group.append(Timed(size, chip, kind, out, text, str(changed), ratio, added=True))
            if len(group) > 1:
                found.append(group)
    return found


def measure(
    group: list[Timed], torch: Any, hold: Callable[[], object] | None = None, launches: int = 0
) -> list[dict[str, Any]]:
    """Compares each kernel of a group with float64, then times them in turn; with `hold`, so many launches that the GPU
    does not begin before they are queued (`launch_times.py`)."""
    import mlir_gemm

    rows, calls = list[dict[str, Any]](), list[Callable[[], object]]()
    generator = torch.Generator("cuda").manual_seed(0)
    given: list[Any] = []
    for _, shape, dtype in group[0].product.arguments:
        made = torch.randn(shape, generator=generator, device="cuda") / 8
        given.append(made.to({"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[dtype]))
    names = [name for name, _, _ in group[0].product.arguments]
    want = group[0].product.reference(dict(zip(names, given, strict=True)), torch)
    for each in group:
        kernel = mlir_gemm.compile(each.product.module(), chip=each.chip, schedule=each.text)
        dtype = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[each.out]
        poison = torch.full(want.shape, float("nan"), device="cuda", dtype=dtype)
        del poison  # its memory is what the result gets
        got = kernel(*given)
        deep = max(1.0, each.size[2] / DEPTH) if each.out == "f32" else 1.0
        error = ((got.double() - want).abs().max() / want.abs().max()).item()
        rows.append({**dataclasses.asdict(each), "error": error, "right": error < LIMITS[each.out] * deep})
        calls.append(lambda kernel=kernel: kernel(*given))
    del want
    times = _in_turn(calls, torch) if hold is None else microseconds(calls, torch, launches, hold)
    for row, us in zip(rows, times, strict=True):
        row["us"] = us
    for row in rows:
        row["times"] = rows[0]["us"] / row["us"]
    return rows


def _in_turn(calls: list[Callable[[], object]], torch: Any) -> list[float]:
    """Microseconds of each call, launches back to back, in turn."""

    def burst(call: Callable[[], object], launches: int) -> float:
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(launches):
            call()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) / launches * 1e3

    launches = [max(3, min(100, int(BURST_US / max(1.0, burst(call, 3))))) for call in calls]
    found: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, number, times in zip(calls, launches, found, strict=True):
            call()
            times.append(burst(call, number))
    return [median(times) for times in found]


def show(rows: list[dict[str, Any]]) -> None:
    first = rows[0]
    m, n, k, order = first["size"]
    others = ", ".join(
        f"{row['fields']} {row['times']:.2f} ({row['predicted']:.2f}){'' if row['right'] else ' WRONG'}"
        for row in rows[1:]
    )
    print(
        f"{first['chip']} {first['kind']} {first['out']} {m}x{n}x{k} {order} {first['us']:.1f} us: {others}", flush=True
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=320)
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=140)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rings", action="store_true")
    parser.add_argument("--added", action="store_true", help="time products whose epilogue adds a matrix")
    parser.add_argument("--compile-only", action="store_true", help="without a GPU")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    os.environ["MLIR_GEMM_CACHE"] = tempfile.mkdtemp()
    start = time.perf_counter()
    found = check(options.count, options.jobs, options.seconds / 2, options.compile_only, options.rings)
    groups = timed_added() if options.added else timed(options.quick, options.rings)
    works = [(each.product, each.chip, each.text) for group in groups for each in group]
    with ProcessPoolExecutor(options.jobs) as pool:
        reasons = dict(zip(works, pool.map(compile_one, works), strict=True))
    failed = [reason for reason in reasons.values() if reason]
    print(f"{len(works)} kernels to time at {time.perf_counter() - start:.0f} s", *failed, sep="\n", flush=True)
    rows: list[dict[str, Any]] = []
    if not options.compile_only:
        import torch

        for group in groups:
            group = [each for each in group if not reasons[each.product, each.chip, each.text]]
            if len(group) > 1 and time.perf_counter() - start < options.seconds:
                rows += measure(group, torch)
                show(rows[-len(group) :])
        found["device"] = torch.cuda.get_device_name(0)
    if options.output:
        options.output.write_text(json.dumps({**found, "rows": rows}, indent=0))
    return 1 if found["others"] or failed or any(not row["right"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
