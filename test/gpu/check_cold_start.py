"""What a kernel's first microseconds go to, on the GPU of this machine: `python test/gpu/check_cold_start.py [-o OUT]`.

Small kernels of PTX, each like the one before but for one thing: more instructions before its loads, after them, more
loads, more blocks. Each is timed by events after 256 MB were written (cold), and after next to nothing was (warm). What
cold and warm differ by is what was not in a cache: data, or the code itself. Prints microseconds, medians of 120 runs.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mlir_gemm.bench.timing import Timer
from mlir_gemm.runtime.device import checked, find_driver

CHAINS = 4
"""Independent sums, so that instructions wait for each other no longer than they take to be issued."""
MOST_THREADS = 4224 * 160


@dataclass(frozen=True)
class Form:
    """One kernel and its launch."""

    name: str
    before: int = 0
    """Additions before the loads."""
    after: int = 0
    """Additions after them."""
    loads: int = 1
    """Of 16 bytes each, for every thread."""
    grid: int = 264
    threads: int = 128
    ahead: bool = False
    """Whether one more warp of each block runs through the code without loads, so that it is there for the others."""
    dependent: bool = True
    """Whether the launch is a dependent one, and waits."""
    stores: bool = True


FORMS = (
    Form("nothing", loads=0, stores=False),
    Form("a store", loads=0),
    Form("a load"),
    Form("a load, no dependent launch", dependent=False),
    *(Form(f"{count} before", before=count) for count in (64, 128, 256, 512, 1024)),
    *(Form(f"{count} after", after=count) for count in (64, 128, 256, 512, 1024)),
    *(Form(f"{count} after, a warp ahead", after=count, ahead=True) for count in (0, 128, 512, 1024)),
    *(Form(f"{count} loads", loads=count) for count in (4, 8)),
    *(Form(f"{grid} blocks", grid=grid) for grid in (1, 132, 528, 1056, 2112, 4224)),
    *(Form(f"{grid} blocks of {threads}", grid=grid, threads=threads)
      for grid, threads in ((1056, 32), (528, 64), (132, 256), (66, 512), (33, 1024))),
)  # fmt: skip


def ptx(form: Form) -> str:
    """The kernel: a thread loads, adds, and stores a number of its own."""

    def additions(count: int) -> list[str]:
        return [f"add.rn.f32 %f{k % CHAINS}, %f{k % CHAINS}, 0f3F800{k % 8}00;" for k in range(count)]

    lines = ["ld.param.b64 %a0, [from];", "ld.param.b64 %a1, [to];"]
    lines += ["griddepcontrol.wait;"] if form.dependent else []
    lines += [
        "mov.u32 %r0, %tid.x;",
        "mov.u32 %r1, %ctaid.x;",
        "mov.u32 %r2, %ntid.x;",
        "mad.lo.u32 %r3, %r1, %r2, %r0;",
    ]
    lines += ["cvt.rn.f32.u32 %f0, %r3;", *(f"mov.f32 %f{k}, %f0;" for k in range(1, CHAINS))]
    lines += [*additions(form.before), "mul.wide.u32 %a2, %r3, 16;", "add.s64 %a3, %a0, %a2;"]
    lines += [f"setp.ge.u32 %p0, %r0, {form.threads};"]
    if form.loads:
        lines += ["@%p0 bra DONE;"] if form.ahead else []
        for k in range(form.loads):
            lines.append(f"ld.global.v4.f32 {{%g{4 * k}, %g{4 * k + 1}, %g{4 * k + 2}, %g{4 * k + 3}}}, "
                         f"[%a3+{k * MOST_THREADS * 16}];")  # fmt: skip
        lines += [f"add.rn.f32 %f{k % CHAINS}, %f{k % CHAINS}, %g{k};" for k in range(4 * form.loads)]
        lines += ["DONE:"] if form.ahead else []
    lines += [*additions(form.after), *(f"add.rn.f32 %f0, %f0, %f{k};" for k in range(1, CHAINS))]
    lines += ["mul.wide.u32 %a4, %r3, 4;", "add.s64 %a5, %a1, %a4;"]
    lines += ["@!%p0 st.global.f32 [%a5], %f0;"] if form.stores else []
    header = (
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry cold(.param .u64 from, .param .u64 to)\n{\n"
    )
    registers = ".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %a<8>;\n.reg .f32 %f<8>, %g<64>;\n"
    return header + registers + "\n".join([*lines, "ret;", "}", ""])


class Kernels:
    """Forms, loaded."""

    def __init__(self, torch: Any) -> None:
        self._driver, self._torch = find_driver(), torch
        self._from = torch.ones(8 * MOST_THREADS * 4, device="cuda")
        self._to = torch.empty(MOST_THREADS, device="cuda")
        self._keep: list[Any] = []

    def run_of(self, form: Form) -> Callable[[], None]:
        """What launches a form."""
        driver = self._driver
        module = checked(driver, driver.cuModuleLoadData(ptx(form).encode()), f"loading '{form.name}'")
        function = checked(driver, driver.cuModuleGetFunction(module, b"cold"), "asking for the kernel")
        self._keep.append(module)
        values = (self._from.data_ptr(), self._to.data_ptr()), (ctypes.c_void_p, ctypes.c_void_p)
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = form.grid, 1, 1
        config.blockDimX, config.blockDimY, config.blockDimZ = form.threads + 32 * form.ahead, 1, 1
        config.hStream = driver.CUstream(self._torch.cuda.current_stream().cuda_stream)
        if form.dependent:
            attribute = driver.CUlaunchAttribute()
            attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
            attribute.value.programmaticStreamSerializationAllowed = 1
            config.attrs, config.numAttrs = [attribute], 1
        return lambda: checked(driver, driver.cuLaunchKernelEx(config, function, values, 0), "launching")


def measured(torch: Any, runs: list[Callable[[], None]], flush: int) -> list[float]:
    """Microseconds of each, after so many bytes were written."""
    timer = Timer(torch, rounds=30, bursts=1, burst_seconds=0.001)
    timer._flush = torch.empty(flush, dtype=torch.int8, device="cuda")
    return [each.median * 1e6 for each in timer.cold(runs, timer.host(runs))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", type=Path, default=None)
    options = parser.parse_args()
    import torch

    torch.zeros(1, device="cuda")
    kernels = Kernels(torch)
    runs = [kernels.run_of(form) for form in FORMS]
    cold, warm = measured(torch, runs, 256 << 20), measured(torch, runs, 1 << 10)
    found = [{**asdict(form), "cold": one, "warm": other} for form, one, other in zip(FORMS, cold, warm, strict=True)]
    for each in found:
        print(
            f"{each['name']:34s} cold {each['cold']:6.2f}  warm {each['warm']:6.2f}  {each['cold'] - each['warm']:6.2f}"
        )
    if options.o is not None:
        options.o.write_text(json.dumps({"device": torch.cuda.get_device_name(), "command": sys.argv, "forms": found}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
