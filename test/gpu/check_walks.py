"""Orders in which blocks walk tiles, and operands that WMMA reads where they lie, on the GPU of this machine.

    python test/gpu/check_walks.py [--chip sm_90a] [--only walks,places,pads,added,words] [--seconds 80] [--jobs 16]
                                   [--compile-only] [-o RESULTS.json]

`walks` times every raster with one tile a block, with persistent blocks, and with four tiles a block, neighbours and
strided: what a wave of blocks reads of A and B differs by a factor of three. `places` times Hofstra's best kernels
(docs/papers-tuned.md): his tiles with A, B, both or neither in shared memory, and his place for them with longer k
steps and with warps that share what they read; `pads` has them without padding. `added` times products whose epilogue
adds a matrix, which comes through shared memory after the products, or while they are computed; `words` does so in
f32, and sums that start from a matrix. Each kernel of a group is compared with float64 first, then they are timed in
turn (`check_parameters.py`); the table has how many times as fast as the first each is, and in brackets what the model
predicts for the chip. Exit status 1 where a result is wrong.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from check_parameters import Timed, measure, show
from check_products import compile_one

from mlir_gemm.errors import Error
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.select import estimate, select

RASTERS = ("grouped", "grouped,raster_group=8", "row", "column", "diagonal")
WALKED = ("persistent=132", "tiles_per_block=4", "tiles_per_block=4,sequential_tiles=off")
WGMMA = "mma=wgmma,block=128x128x64,warp=64x128x64,persistent=0"
WALK_SIZES = ((4096, 4096, 4096, "kn"), (4096, 3072, 2048, "nk"))
LANES = "mma=wmma,mainloop=cp_async,stages=2"
PLACES = (
    (f"{LANES},block=64x128x16,warp=64x32x16", ("promote_b=off", "promote_a=off")),
    (f"{LANES},block=128x128x16,warp=32x128x16", ("promote_a=off", "promote_b=off")),
    (f"{LANES},block=128x128x16,warp=64x64x16", ("promote_a=off", "promote_b=off")),
    (f"{LANES},block=64x128x32,warp=64x32x16", ("promote_b=off",)),
    (f"{LANES},block=128x128x64,warp=32x128x16", ("promote_a=off",)),
)
"""Tiles, and the operands that are not staged: those of his A4000, his A100 and his Ada, and longer k steps."""
IN_PLACE = "promote=off,mainloop=direct,stages=1"
PLACE_SIZES = ((4096, 4096, 4096, "kn"), (1024, 1024, 1024, "kn"))
C = "promote_c=on"
AHEAD = "promote_c=on,prefetch_c=on"
TURNS = "block=128x128x64,warp=128x128x64,stages=4,ping_pong=on"
TOGETHER = "block=128x128x64,warp=64x128x64,stages=4,ping_pong=off"
ADDED = (
    (
        "mma=wgmma,promote_c=off,prefetch_c=off",
        (TURNS, f"{TURNS},{AHEAD}", TOGETHER, f"{TOGETHER},{C}", f"{TOGETHER},{AHEAD}",
         f"block=64x256x64,warp=64x256x64,stages=3,ping_pong=on,{AHEAD}",
         f"block=64x128x64,warp=64x128x64,ping_pong=on,{AHEAD}"),
    ),
    (
        "mma=mma_sync,mainloop=cp_async,block=128x128x64,warp=64x64x16,stages=2,promote_result=off",
        (C, AHEAD, "stages=3", "promote_result=on", f"{C},promote_result=on", f"{AHEAD},promote_result=on"),
    ),
)  # fmt: skip
"""The model's choice, and tiles of two warpgroups in turns and together, with what the epilogue adds read by lanes,
through shared memory after the products, and during them; and the same of `mma_sync` with results by lanes and whole
vectors."""
ADDED_SIZES = (
    (2048, 2048, 2048, "nk"), (4096, 4096, 256, "kn"), (8192, 8192, 64, "nk"), (4096, 4096, 1024, "kn"),
    (16384, 4096, 128, "nk"), (8192, 1024, 512, "nk"), (4096, 4096, 4096, "nk"),
)  # fmt: skip


WORDS = (
    f"block=64x128x64,warp=64x128x64,ping_pong=on,{AHEAD}", f"block=128x128x64,warp=64x128x64,ping_pong=off,{AHEAD}",
    f"block=128x64x64,warp=128x64x64,ping_pong=on,{AHEAD}", f"block=128x64x64,warp=64x64x64,ping_pong=off,{AHEAD}",
)  # fmt: skip
"""The same of f32, whose tiles are twice as large."""
WORD_SIZES = ((4096, 4096, 256, "kn"), (8192, 8192, 64, "nk"), (2048, 2048, 2048, "nk"), (4096, 4096, 1024, "kn"))


def walks(chip: str) -> Iterator[list[Timed]]:
    for size in WALK_SIZES:
        variants = [f"raster={raster},{walk}" for walk in WALKED for raster in RASTERS]
        yield group(size, chip, "f16", WGMMA, variants)


def places(chip: str) -> Iterator[list[Timed]]:
    for size in PLACE_SIZES:
        for tiles, fields in PLACES:
            yield group(size, chip, "f32", tiles, [*fields, f"raster=row,{fields[0]}", IN_PLACE])


def pads(chip: str) -> Iterator[list[Timed]]:
    for tiles, fields in PLACES[:3]:
        variants = ["layout=pad,pad=0", f"layout=pad,pad=0,{fields[0]}", fields[0], f"{IN_PLACE},raster=row"]
        yield group(PLACE_SIZES[0], chip, "f32", tiles, variants)


def added(chip: str) -> Iterator[list[Timed]]:
    for size in ADDED_SIZES:
        for tiles, fields in ADDED if size in ADDED_SIZES[:3] else ADDED[:1]:
            yield group(size, chip, "f16", tiles, list(fields), added=True)


def words(chip: str) -> Iterator[list[Timed]]:
    for size in WORD_SIZES:
        for starts in (False, True):
            yield group(size, chip, "f32", ADDED[0][0], list(WORDS), added=not starts, starts=starts)


KINDS = {"walks": walks, "places": places, "pads": pads, "added": added, "words": words}


def group(
    size: tuple[int, int, int, str], chip: str, out: str, pinned: str, variants: list[str], added: bool = False,
    starts: bool = False,
) -> list[Timed]:  # fmt: skip
    """The model's choice with some fields, and with others beside them; what is illegal is left out. The epilogue adds
    a matrix, or sums start from one."""
    m, n, k, order = size
    beside = {"epilogue_ops": 7, "epilogue_matrices": 1, "epilogue_types": out} if added else {}
    problem = Problem(m, n, k, "f16", "f16", out=out, reads_c=starts, b_order=order, **beside)
    on = target(chip)
    base = select(problem, on, Schedule.parse(pinned)).schedule
    seconds = estimate(problem, base, on).total
    found = [Timed(size, chip, "f16", out, "c" if starts else "", str(base), 1.0, added)]
    for text in variants:
        fields = dict(part.split("=") for part in f"{pinned},{text}".split(","))
        asked = ",".join(f"{name}={value}" for name, value in fields.items())
        try:
            chosen = select(problem, on, Schedule.parse(asked))
        except Error as error:
            print(f"{text}: {error.message.splitlines()[0]}", flush=True)
            continue
        ratio = seconds / estimate(problem, chosen.schedule, on).total
        found.append(Timed(size, chip, "f16", out, text, str(chosen.schedule), ratio, added))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--only", default=",".join(KINDS))
    parser.add_argument("--seconds", type=float, default=80)
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--compile-only", action="store_true", help="without a GPU")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    os.environ["MLIR_GEMM_CACHE"] = tempfile.mkdtemp()
    start = time.perf_counter()
    groups = [each for kind in options.only.split(",") for each in KINDS[kind](options.chip)]
    works = [(each.product, each.chip, each.text) for group in groups for each in group]
    with ProcessPoolExecutor(options.jobs) as pool:
        failed = [reason for reason in pool.map(compile_one, works) if reason]
    print(f"{len(works)} kernels at {time.perf_counter() - start:.0f} s", *failed, sep="\n", flush=True)
    rows: list[dict[str, Any]] = []
    if options.compile_only:
        rows = [dataclasses.asdict(each) for group in groups for each in group]
    elif not failed:
        import torch

        for each in groups:
            if time.perf_counter() - start < options.seconds:
                rows += measure(each, torch)
                show(rows[-len(each) :])
    if options.output:
        options.output.write_text(json.dumps({"command": " ".join(sys.argv), "rows": rows}, indent=0))
    return 1 if failed or any(not row.get("right", True) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
