"""Convolutions, channels last, read by windows where the image lies: right, and how fast beside cudnn.

    python test/gpu/check_windows.py [-o RESULTS.json] [--random 40] [--groups 60] [--open 0] [--layers NAME]

With `--open`, so many of the random ones are compiled for any number of images, and run with two numbers of them.
Random ones of any window, stride, dilation and padding, under the model's choice and with `mma=wgmma` where there is a
schedule with it, then ones of few channels, of groups and depthwise. They are compared with float64 (images and weights
of small whole numbers give exact sums, so that a rounded result may differ by half a unit in the last place); the
result holds NaN before. Then layers of networks, batch 32, in turns with PyTorch's convolution of `channels_last`
tensors (cudnn, with its own choice among algorithms by measuring).
Memory is what a call needs beside image, weights and result. Exit status 1 where something is wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

import mlir_gemm

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from convolutions import Convolution, random_convolution, random_groups

from bench.timing import Timer

TYPES = {"f16": torch.float16, "bf16": torch.bfloat16}
BATCH = 32


def depthwise(size: tuple[int, int], c: int, **others: Any) -> Convolution:
    """A depthwise layer."""
    return Convolution(BATCH, size, c, c, groups=c, form="nhwc_hwcf", **{"padding": (1, 1), **others})


LAYERS = {
    "3x3, 56x56x64": Convolution(BATCH, (56, 56), 64, 64, padding=(1, 1)),
    "3x3, 28x28x128": Convolution(BATCH, (28, 28), 128, 128, padding=(1, 1)),
    "3x3, 14x14x256": Convolution(BATCH, (14, 14), 256, 256, padding=(1, 1)),
    "3x3, 7x7x512": Convolution(BATCH, (7, 7), 512, 512, padding=(1, 1)),
    "3x3 in steps of 2, 56x56x128": Convolution(BATCH, (56, 56), 128, 128, stride=(2, 2), padding=(1, 1)),
    "3x3 dilated by 2, 28x28x128": Convolution(BATCH, (28, 28), 128, 128, dilation=(2, 2), padding=(2, 2)),
    "1x1 in steps of 2, 56x56x256 to 512": Convolution(BATCH, (56, 56), 256, 512, (1, 1), (2, 2)),
    "1x1, 28x28x512 to 128": Convolution(BATCH, (28, 28), 512, 128, (1, 1)),
    "7x7 in steps of 2, 224x224x3": Convolution(BATCH, (224, 224), 3, 64, (7, 7), (2, 2), padding=(3, 3)),
    "3x3 without padding, 58x58x64": Convolution(BATCH, (58, 58), 64, 64),
    "3x3, 224x224x3": Convolution(BATCH, (224, 224), 3, 64, padding=(1, 1)),
    "16x16 in steps of 16, 224x224x3": Convolution(BATCH, (224, 224), 3, 768, (16, 16), (16, 16)),
    "3x3 depthwise, 112x112x32": depthwise((112, 112), 32),
    "3x3 depthwise, 56x56x128": depthwise((56, 56), 128),
    "3x3 depthwise in steps of 2, 56x56x128": depthwise((56, 56), 128, stride=(2, 2)),
    "5x5 depthwise, 14x14x512": depthwise((14, 14), 512, window=(5, 5), padding=(2, 2)),
    "7x7 depthwise, 56x56x96": depthwise((56, 56), 96, window=(7, 7), padding=(3, 3)),
    "7x7 depthwise, 14x14x384": depthwise((14, 14), 384, window=(7, 7), padding=(3, 3)),
    "3x3 in 32 groups, 56x56x128": Convolution(BATCH, (56, 56), 128, 128, padding=(1, 1), groups=32),
    "3x3 in 32 groups, 14x14x512": Convolution(BATCH, (14, 14), 512, 512, padding=(1, 1), groups=32),
    "3x3 in 4 groups, 28x28x256": Convolution(BATCH, (28, 28), 256, 256, padding=(1, 1), groups=4),
}


def given(case: Convolution, whole: bool) -> tuple[Any, Any]:
    """An image and weights, of small whole numbers or of normal ones."""
    image, weights, _ = case.shapes

    def filled(shape: list[int]) -> Any:
        if whole:
            return torch.randint(-2, 3, shape, device="cuda").to(TYPES[case.dtype])
        return (torch.randn(shape, device="cuda") / (case.c // case.groups) ** 0.25).to(TYPES[case.dtype])

    return filled(image), filled(weights)


def by_torch(case: Convolution, image: Any, weights: Any) -> Any:
    """The same by PyTorch: NHWC, of tensors that lie so."""
    if weights.dim() == 3:
        window = weights.permute(2, 0, 1)[:, None]
    else:
        window = weights.permute(3, 2, 0, 1) if case.form == "nhwc_hwcf" else weights.permute(0, 3, 1, 2)
    made = torch.nn.functional.conv2d(
        image.permute(0, 3, 1, 2), window, None, case.stride, case.padding, case.dilation, case.groups
    )
    return made.permute(0, 2, 3, 1)


def exact(case: Convolution, image: Any, weights: Any) -> Any:
    """The same in float64, pixel by pixel of the window."""
    (rows, columns), (up, left) = case.places, case.padding
    wide = torch.nn.functional.pad(image.double(), (0, 0, left, left, up, up))
    window = weights.double()
    if window.dim() == 3:
        window = window[:, :, None]
    elif case.form != "nhwc_hwcf":
        window = window.movedim(0, -1)
    total: Any = 0
    for i in range(case.window[0]):
        for j in range(case.window[1]):
            first = i * case.dilation[0], j * case.dilation[1]
            part = wide[:, first[0] :, first[1] :][:, :: case.stride[0], :: case.stride[1]][:, :rows, :columns]
            if case.depthwise:
                total = total + part * window[i, j, 0]
                continue
            part = part.unflatten(-1, (case.groups, -1))
            each = window[i, j].unflatten(-1, (case.groups, -1))
            total = total + torch.einsum("nhwgc,cgf->nhwgf", part, each).flatten(-2)
    return total


def wrong(case: Convolution, kernel: Any) -> float:
    """The largest difference from float64, in units of the last place of the result."""
    image, weights = given(case, whole=True)
    wanted = exact(case, image, weights)
    poisoned = torch.full(case.shapes[2], float("nan"), dtype=TYPES[case.dtype], device="cuda")
    del poisoned  # the result comes to lie there
    out = kernel(image, weights)
    torch.cuda.synchronize()
    unit = 2.0**-10 if case.dtype == "f16" else 2.0**-7
    scale = torch.clamp(torch.exp2(torch.floor(torch.log2(wanted.abs().clamp(min=1e-30)))), min=1.0) * unit
    return float(torch.nan_to_num((out.double() - wanted).abs() / scale, nan=1e9).max())


def check(case: Convolution, schedule: dict[str, Any] | None) -> dict[str, Any]:
    """One random convolution."""
    found: dict[str, Any] = {"case": str(case), "schedule": schedule}
    try:
        kernel = mlir_gemm.compile(case.text(), schedule=schedule)
    except mlir_gemm.Error as error:
        return {**found, "refused": error.message}
    try:
        found["units"] = wrong(case, kernel)
        found["maps"] = sum(bool(each.steps) for each in kernel.launch.tensor_maps)
    except Exception as error:  # one that is wrong must not hide the others
        found["failed"] = str(error)
    return found


def check_open(case: Convolution) -> dict[str, Any]:
    """One random convolution of any number of images, at two numbers."""
    found: dict[str, Any] = {"case": str(case), "schedule": None, "open": True}
    try:
        kernel = mlir_gemm.compile(case.open_text())
        found["units"] = max(wrong(replace(case, n=images), kernel) for images in (case.n + 2, 1))
    except Exception as error:  # one that is wrong must not hide the others
        found["failed"] = str(error)
    return found


def memory_of(call: Any) -> int:
    """Bytes that a call allocates beside what there is."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    call()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


def measure(name: str, case: Convolution, timer: Timer) -> dict[str, Any]:
    """One layer beside cudnn."""
    kernel = mlir_gemm.compile(case.text())
    image, weights = given(case, whole=False)
    runs = [lambda: kernel(image, weights), lambda: by_torch(case, image, weights)]
    units = wrong(case, kernel)
    peaks = [memory_of(run) for run in runs]
    host = timer.host(runs)
    cold = timer.cold(runs, host)
    ours, theirs = timer.sustained(runs, [each.median for each in cold], host, lambda: None)[0]
    item = 2
    buffers = sum(each.bytes for each in getattr(kernel.launch, "buffers", ()))
    out = item * case.n * case.places[0] * case.places[1] * case.f
    result = {
        "layer": name, "dtype": case.dtype, "units": units, "us": ours.median * 1e6, "cudnn_us": theirs.median * 1e6,
        "cold_us": cold[0].median * 1e6, "cudnn_cold_us": cold[1].median * 1e6,
        "tflops": case.flops / ours.median / 1e12, "buffers": buffers,
        "peak": peaks[0] - out, "cudnn_peak": peaks[1] - out,
        "windows": item * case.windows, "arrays": image.nbytes + weights.nbytes + out,
        "steps": [step.entry for step in kernel.launch.steps],
        "schedules": [str(each.schedule) for each in kernel.kernels if each.schedule],
    }  # fmt: skip
    print(f"{name:38} {case.dtype:5} {result['us']:8.1f} us, cudnn {result['cudnn_us']:8.1f} "
          f"({result['us'] / result['cudnn_us']:.2f}), {result['tflops']:6.1f} TF/s, buffers {buffers / 1e6:.1f} MB, "
          f"windows would be {result['windows'] / 1e6:7.1f} MB, cudnn takes {result['cudnn_peak'] / 1e6:.2f}; "
          f"{units:.2f} units {result['schedules'][-1:]}", flush=True)  # fmt: skip
    return result


def main() -> int:
    """The check from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", dest="out")
    parser.add_argument("--random", type=int, default=40)
    parser.add_argument("--groups", type=int, default=60, help="random ones of few channels, of groups, or depthwise")
    parser.add_argument("--open", type=int, default=0, help="random ones of any number of images")
    parser.add_argument("--layers", default="", help="only layers whose names have this, a regular expression")
    options = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    checked: list[dict[str, Any]] = []
    for seed in range(options.random):
        case = random_convolution(random.Random(seed), 24)
        for schedule in (None, {"mma": "wgmma"}):
            checked.append(check(case, schedule))
            if checked[-1].get("units", 1.0) > 0.5 and "refused" not in checked[-1]:
                print(checked[-1], flush=True)
    for seed in range(options.groups):
        checked.append(check(random_groups(random.Random(seed)), None))
        if checked[-1].get("units", 1.0) > 0.5:
            print(checked[-1], flush=True)
    for seed in range(options.open):
        rng = random.Random(seed)
        checked.append(check_open(random_groups(rng) if seed % 2 else random_convolution(rng, 24)))
        if checked[-1].get("units", 1.0) > 0.5:
            print(checked[-1], flush=True)
    run = [each for each in checked if "refused" not in each]
    bad = [each for each in run if each.get("units", 1e9) > 0.5]
    maps = sum(each.get("maps", 0) > 0 for each in run)
    print(f"{len(run)} run, {maps} by the copy engine, {len(checked) - len(run)} refused, {len(bad)} wrong", flush=True)
    timer = Timer(torch, 5, 5, 0.01)
    layers: list[dict[str, Any]] = []
    for name, case in LAYERS.items():
        if not re.search(options.layers, name):
            continue
        for dtype in TYPES:
            if dtype == "bf16" and (not name.endswith(("x64", "x256")) or case.groups > 1):
                continue
            try:
                layers.append(measure(name, Convolution(**{**case.__dict__, "dtype": dtype}), timer))
            except Exception as error:  # the next layer may run
                layers.append({"layer": name, "failed": str(error)})
                print(name, "failed:", error, flush=True)
    if options.out:
        data = {"command": " ".join(sys.argv), "device": torch.cuda.get_device_name(), "torch": torch.__version__,
                "cudnn": torch.backends.cudnn.version(), "checked": checked, "layers": layers}  # fmt: skip
        Path(options.out).write_text(json.dumps(data, indent=1))
    return int(bool(bad) or any("failed" in each or each["units"] > 0.5 for each in layers))


if __name__ == "__main__":
    sys.exit(main())
