"""Writes the pictures of docs/viewer.md: the page of `mlir-gemm view` in a headless browser.

python docs/make/pictures.py    # needs Chromium: apt-get install chromium
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs/images"
SHOTS = (
    ("product-overview", "examples/matmul_4096.mlir", "sm_90a", "tab=overview&theme=light", (1300, 1330)),
    ("product-passes", "examples/matmul_4096.mlir", "sm_90a",
     "tab=passes&theme=dark&pass=warp-specialize&follow=tile.mma", (1500, 950)),
    ("product-choice", "examples/matmul_4096.mlir", "sm_90a", "tab=choice&theme=light", (1300, 800)),
    ("product-sm_80", "examples/matmul_4096.mlir", "sm_80", "tab=overview&theme=dark", (1300, 1100)),
    ("product-fused", "examples/torch_linear_gelu.mlir", "sm_80",
     "tab=passes&theme=light&pass=accumulate&mode=changes", (1500, 800)),
    ("program-mlp", "examples/torch_mlp.mlir", "sm_90a", "tab=overview&theme=light&kernel=1", (1300, 1100)),
    ("program-encoder", "examples/blocks/encoder.mlir", "sm_90a",
     "tab=passes&theme=dark&kernel=2&pass=tensorize-rows", (1500, 900)),
)  # fmt: skip
"""Name, input, chip, what is shown, and the size of the window."""
COLOURS = 96


def main() -> int:
    program = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if program is None:
        print("no browser: apt-get install chromium", file=sys.stderr)
        return 1
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for name, source, chip, shown, (width, height) in SHOTS:
            if wanted and name not in wanted:
                continue
            page, shot = Path(folder, f"{Path(source).stem}-{chip}.html"), Path(folder, f"{name}.png")
            if not page.exists():
                command = ["mlir-gemm", "view", str(ROOT / source), "--chip", chip, "-o", str(page)]
                subprocess.run([str(Path(sys.executable).with_name(command[0])), *command[1:]], check=True)
            options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
            options += [f"--window-size={width},{height}", "--virtual-time-budget=10000", f"--screenshot={shot}"]
            subprocess.run([program, *options, f"file://{page}#{shown}"], check=True, capture_output=True)
            with Image.open(shot) as picture:
                small = picture.convert("RGB").quantize(COLOURS)
                small.save(IMAGES / f"view-{name}.png", optimize=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
