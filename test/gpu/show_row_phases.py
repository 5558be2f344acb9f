"""When the blocks of a kernel of rows that they share start, have read, have exchanged, and have written, on the GPU of
this machine.

    python test/gpu/show_row_phases.py ['softmax 8x1000000 f32' ...]

The kernel's code is changed by hand: each block writes four times, of the GPU's clock of nanoseconds, over the first
elements of the result. In a burst of launches the last one's times are shown, in microseconds from the first
block's start: first, mean and last block.
"""

from __future__ import annotations

import re
import sys
from typing import Any

import mlir_gemm
from mlir_gemm.bench.functions import Rows, of_rows

CHIP, LAUNCHES = "sm_90a", 20
CASES = ["softmax 1x10000000 f32", "softmax 1x10000000 f16", "softmax 8x1000000 f32", "layer_norm 4x2000000 f32"]
MARKS = "started", "has read", "exchanged", "done"
WAITS = "ld.relaxed.gpu"


def marked(ptx: str) -> str:
    """The code with times: after what precedes the kernel, after the first barrier of the block and after that which
    follows the last exchange, and at the end."""
    barrier = "\tbar.sync \t0;\n"
    start, ready = ptx.index("griddepcontrol.wait;\n"), ptx.index(barrier)
    exchanged = ptx.index(barrier, ptx.rindex(WAITS))
    end = ptx.rindex("\tret;")
    places = [(start + len("griddepcontrol.wait;\n"), 0), (ready + len(barrier), 1), (exchanged + len(barrier), 2)]
    last = re.findall(r"\.param \.u64 \.ptr \.align 1 (\w+)", ptx)[-1]
    written = "\tmov.u64 \t%mark3, %globaltimer;\n\tmov.u32 \t%mine, %tid.x;\n\tsetp.ne.u32 \t%other, %mine, 0;\n"
    written += f"\tld.param.b64 \t%place, [{last}];\n\tmov.u32 \t%mine, %ctaid.x;\n"
    written += "\tmad.wide.u32 \t%place, %mine, 32, %place;\n"
    written += "".join(f"\t@!%other st.global.b64 \t[%place+{8 * n}], %mark{n};\n" for n in range(len(MARKS)))
    text = ptx[:end] + written + ptx[end:]
    for place, number in reversed(places):
        text = f"{text[:place]}\tmov.u64 \t%mark{number}, %globaltimer;\n{text[place:]}"
    registers = "\t.reg .b64 \t%mark<4>;\n\t.reg .b64 \t%place;\n\t.reg .b32 \t%mine;\n\t.reg .pred \t%other;\n"
    return text.replace("{\n\t.reg", f"{{\n{registers}\t.reg", 1)


def show(torch: Any, name: str) -> None:
    kind, size, element = name.split()
    m, n = map(int, size.split("x"))
    function = of_rows(Rows(kind, m, n, element))
    kernel = mlir_gemm.compile(function.source, chip=CHIP)
    launcher: Any = kernel.launcher
    launcher._ptx = marked(launcher._ptx)
    drawn = function.draw(torch, 0)
    arguments = [*drawn.inputs, *drawn.outputs]
    for _ in range(LAUNCHES):
        kernel(*arguments)
    torch.cuda.synchronize()
    blocks = launcher._launch.steps[0].grid[0]
    times = drawn.outputs[0].view(-1).view(torch.int64)[: 4 * blocks].view(blocks, 4).double().cpu() / 1e3
    times -= times.min()
    print(f"{name}, {blocks} blocks")
    for number, mark in enumerate(MARKS):
        own = times[:, number]
        print(f"  {mark:10s} {own.min():7.2f} {own.mean():7.2f} {own.max():7.2f}")


def main() -> int:
    import torch

    for name in sys.argv[1:] or CASES:
        show(torch, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
