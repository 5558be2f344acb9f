"""What a file of `check_whole_spaces.py` says: how near the model's choice and the tuner came to the best.

python space_report.py RESULTS.jsonl[.xz] [--each]          # needs no GPU

The same kernel takes another time on other memory, and the best of many schedules is partly the luckiest. Where a file
has times of several places, three figures stand beside each other: of one place, where a schedule's luck is its own
time; of the median over places; and `crossed`, for which the best is picked by the other places and compared in the one
left out. The last has no luck in it, but may pick one that is not the best: the truth lies between it and the median.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
from collections.abc import Iterable, Sequence
from math import exp, log
from pathlib import Path
from statistics import median
from typing import Any

from mlir_gemm.spec.problem import Problem
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.decisions import decide

MARKS = (1, 8, 16, 24, 50)
DRAWS = 2000


def read(path: str) -> list[dict[str, Any]]:
    """The lines of a file, which may be packed by xz."""
    data = Path(path).read_bytes()
    text = (lzma.decompress(data) if path.endswith(".xz") else data).decode()
    return [json.loads(line) for line in text.splitlines()]


def mean_and_worst(values: Iterable[float]) -> str:
    known = list(values)
    return f"{_mean(known):.4f} ({max(known):.3f})" if known else "-"


def choice_now(table: dict[str, Any]) -> str:
    """What the model chooses as it is now."""
    choice = decide(Problem(**table["problem"]), target(table["chip"])).choice
    return str(choice.schedule.replace(swap_ab=bool(choice.pinned.get("swap_ab"))))


def random_search(table: dict[str, Any], best: float, count: int) -> float:
    """How many times the best the best of so many random schedules takes, in the mean over many draws. All within a
    factor of two are drawn alike: those of the model's best are known, the sample stands for the others."""
    first = [row["us"] for row in table["rows"] if row["of"] == "best"]
    others = [row["us"] for row in table["rows"] if row["of"] == "sample"]
    rng, total = random.Random(0), 0.0
    share = len(first) / max(table["within"], len(first))
    for _ in range(DRAWS):
        known = sum(rng.random() < share for _ in range(count))
        drawn = rng.sample(first, min(known, len(first)))
        drawn += rng.choices(others, k=count - known) if others else []
        total += log(min(drawn) / best)
    return exp(total / DRAWS)


def by_places(table: dict[str, Any], schedule: str) -> dict[str, float]:
    """How many times the best a schedule takes in one place, in the mean, and crossed; and how many times as long the
    best schedules take in their slowest place as in their fastest. Empty where there is but one place."""
    places = {row["schedule"]: row["places"] for row in table["rows"] if len(row.get("places", ())) > 1}
    if schedule not in places:
        return {}
    alone: list[float] = []
    crossed: list[float] = []
    for place, own in enumerate(places[schedule]):
        others = {text: median(us for at, us in enumerate(each) if at != place) for text, each in places.items()}
        alone.append(own / min(each[place] for each in places.values()))
        crossed.append(own / places[min(others, key=lambda text: others[text])][place])
    near = sorted(places.values(), key=median)[:8]
    spread = median(max(each) / min(each) for each in near)
    return {"in one place": _mean(alone), "crossed": _mean(crossed), "slowest place": spread}


def _mean(values: Sequence[float]) -> float:
    return exp(sum(map(log, values)) / len(values))


def of_live(live: dict[str, Any], best: float) -> list[float]:
    times = [us or float("inf") for _, us in live["order"]]
    return [min(times[:mark]) / best for mark in MARKS]


def report(lines: Sequence[dict[str, Any]], each: bool) -> None:
    tables = [line for line in lines if line["kind"] == "table" and line["rows"]]
    lives = {tuple(line["row"]): line for line in lines if line["kind"] == "live"}
    found: dict[str, list[float]] = {}
    steps: list[list[float]] = []
    for table in tables:
        times = {row["schedule"]: row["us"] for row in table["rows"]}
        live = lives.get(tuple(table["row"]))
        tried = {text: us for text, us in live["order"] if us} if live else {}
        best = min([*times.values(), *tried.values()])
        now = choice_now(table)
        choice, present = times.get(table["choice"]), times.get(now, tried.get(now))
        for name, us in (("choice", choice), ("choice now", present)):
            if us:
                found.setdefault(f"{table['part']}: {name}", []).append(us / best)
        placed = by_places(table, table["choice"])
        for name, value in placed.items():
            found.setdefault(f"{table['part']}: choice, {name}", []).append(value)
        if not present:
            print(f"{table['name']}: the present choice was not measured: {now}")
        if table["cublas_us"]:
            found.setdefault(f"{table['part']}: cuBLAS", []).append(table["cublas_us"] / best)
        said = [f"{table['name']:32}", f"best {best:8.2f} us", f"choice {(choice or 0) / best:.3f}"]
        said += [f"now {(present or 0) / best:.3f}", *(f"{name} {value:.3f}" for name, value in placed.items())]
        if live:
            steps.append(of_live(live, best))
            drawn = [random_search(table, best, mark) for mark in MARKS]
            found.setdefault("random after 50", []).append(drawn[-1])
            said += [
                "expected",
                *(f"{value:.3f}" for value in steps[-1]),
                "random",
                *(f"{value:.3f}" for value in drawn),
            ]
        if each:
            print("  ".join(said))
    for mark, values in zip(MARKS, zip(*steps, strict=True), strict=True) if steps else ():
        print(f"expected after {mark:2}: {mean_and_worst(values)}")
    for name, values in found.items():
        print(f"{name}: {len(values)}, {mean_and_worst(values)} of the best")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--each", action="store_true", help="a line for each problem")
    given = parser.parse_args()
    report(read(given.file), given.each)


if __name__ == "__main__":
    main()
