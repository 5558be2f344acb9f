"""Times of calls on the GPU, in turn: what the checks beside this file measure with."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

ROUNDS = 5
HELD_BYTES, TIMES = 1 << 28, 8
"""What is written to hold a GPU, and how often: some 0.7 ms of an H100."""


def writing(torch: Any) -> Callable[[], None]:
    """What holds the GPU while launches are queued, and leaves nothing of theirs in L2: memory is written."""
    big = torch.empty(HELD_BYTES, dtype=torch.int8, device="cuda")

    def hold() -> None:
        for _ in range(TIMES):
            big.zero_()

    return hold


def printed(description: str, results: Iterable[dict[str, Any]], torch: Any) -> int:
    """Runs a script's checks: prints each result, with its `right`, as a line, and writes all to the file that `-o`
    names. The exit status."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, metavar="OUT.json")
    options = parser.parse_args()
    kept: list[dict[str, Any]] = []
    for result in results:
        kept.append(result)
        print(json.dumps(result), flush=True)
    if options.output:
        found = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "results": kept}
        options.output.write_text(json.dumps(found, indent=1))
    return int(not all(each["right"] for each in kept))


def captured(driver: Any, stream: int, run: Callable[[], object], length: int) -> Any:
    """A graph, ready to launch, of so many runs on a stream."""
    from mlir_gemm.runtime.status import checked

    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    checked(driver, driver.cuStreamBeginCapture(stream, mode), "capturing launches")
    try:
        for _ in range(length):
            run()
    finally:
        made = checked(driver, driver.cuStreamEndCapture(stream), "capturing launches")
    graph = checked(driver, driver.cuGraphInstantiate(made, 0), "making a graph of launches")
    driver.cuGraphDestroy(made)
    return graph


def microseconds(
    calls: list[Callable[[], object]], torch: Any, launches: int, hold: Callable[[], object] | None = None
) -> list[float]:
    """The time of each call, `launches` of them back to back, in turn: the median of five rounds. `hold` keeps the GPU
    busy until they are queued, so that the host's time does not count; one more call follows it first."""
    found: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, times in zip(calls, found, strict=True):
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            call()
            if hold is not None:
                hold()
                call()
            start.record()
            for _ in range(launches):
                call()
            stop.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(stop) * 1e3 / launches)
    return [median(times) for times in found]
