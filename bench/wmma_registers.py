"""Whether warp tiles of WMMA fit a thread's registers on Volta and Turing: the rule's estimate beside what ptxas takes,
with the rule out of the way.

    python -m mlir_gemm.bench.wmma_registers

Khandelwal's block tile, 128x128x64, single buffer, delayed copies, 8192 x 8192 x 8192 in f16 with f32 results.
"""

from __future__ import annotations

from mlir_gemm.bench.modules import module
from mlir_gemm.bench.paper_model import product
from mlir_gemm.bench.problems import Problem
from mlir_gemm.bench.summary import table
from mlir_gemm.parts.registers import registers
from mlir_gemm.pipeline import assembler
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model import rules
from mlir_gemm.tile_model.chips import target

PROBLEM = Problem("paper", 8192, 8192, 8192, "f16", "f32")
WARPS = ("64x64x32", "32x64x16", "64x32x16", "32x32x16")
FIELDS = "mma=wmma,block=128x128x64,stages=1,layout=pad,pad=8"


def measured(chip: str, warp: str, mainloop: str) -> list[str]:
    """A row: warp tile, main loop, and registers by the model and by ptxas, with the bytes that it spills."""
    row = target(chip)
    fields = Schedule.parse(f"{FIELDS},warp={warp},mainloop={mainloop}")
    estimate = registers(product(PROBLEM), Schedule.make(fields), row)
    ptx = compile_module(module(PROBLEM), chip=chip, schedule=fields).ptx or ""
    usage = assembler.usage(ptx, row.arch)
    by_ptxas = [str(usage.registers), str(usage.spill_bytes)] if usage else ["no ptxas", "-"]
    return [chip, warp, mainloop, str(estimate), *by_ptxas]


def main() -> None:
    rules.OF_RESOURCES = tuple(rule for rule in rules.OF_RESOURCES if rule is not rules.registers_fit)
    rows = [
        measured(chip, warp, mainloop)
        for chip in ("v100", "rtx2080ti")
        for mainloop in ("register_prefetch", "direct")
        for warp in WARPS
    ]
    print(table(["chip", "warp", "mainloop", "registers, rule", "ptxas", "bytes spilled"], rows))


if __name__ == "__main__":
    main()
