"""Compiles a list of kernels into one archive that a GPU host without this project's dependencies can measure.

    python bench/prepare.py SET [SET ...] -o .pack/kernels.tar.xz [--chip sm_90] [--jobs N]

Sets are defined in `bench/cases.py`. The archive holds `manifest.json` (problem, schedule, launch of each kernel) and
one PTX file for each; `bench/measure.py` checks and times them.
"""

from __future__ import annotations

import argparse
import dataclasses
import io
import json
import sys
import tarfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from cases import SETS, Case


def compile_case(work: tuple[Case, str]) -> dict[str, object]:
    """One case compiled: its manifest entry with the PTX, or with the reason why it is not legal."""
    from mlir_gemm.errors import Error
    from mlir_gemm.pipeline.driver import compile_module
    from mlir_gemm.pipeline.schedule import Schedule

    case, chip = work
    entry: dict[str, object] = dataclasses.asdict(case)
    try:
        result = compile_module(case.module(), chip=chip, schedule=Schedule.parse(case.schedule))
    except Error as error:
        return entry | {"refused": str(error)}
    assert result.launch is not None
    return entry | {"full_schedule": str(result.schedule), "launch": result.launch.to_json(), "ptx": result.ptx}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", choices=sorted(SETS))
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--chip", default="sm_90")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    cases = [case for name in options.sets for case in SETS[name](options.chip)]
    options.output.parent.mkdir(parents=True, exist_ok=True)
    manifest: list[dict[str, object]] = []
    with tarfile.open(options.output, "w:xz", preset=1) as archive, ProcessPoolExecutor(options.jobs) as pool:
        for number, entry in enumerate(pool.map(compile_case, [(c, options.chip) for c in cases], chunksize=8)):
            if sys.stderr.isatty():
                print(f"\r{number + 1}/{len(cases)}", end="", file=sys.stderr, flush=True)
            if "ptx" in entry:
                name = f"k{number}.ptx"
                _add(archive, name, str(entry.pop("ptx")).encode())
                entry["ptx"] = name
            manifest.append(entry)
        _add(archive, "manifest.json", json.dumps(manifest).encode())
    refused = [entry for entry in manifest if "refused" in entry]
    print(f"\n{len(manifest) - len(refused)} compiled, {len(refused)} refused", file=sys.stderr)
    for entry in refused[:5]:
        print(entry["name"], entry["schedule"], entry["refused"], file=sys.stderr)
    return 0


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


if __name__ == "__main__":
    sys.exit(main())
