"""A headless Chromium for tests of the page that `mlir-gemm view` writes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
REQUIRED = "MLIR_GEMM_NEEDS_BROWSER"
"""Set where a browser must be there, as in continuous integration: a test without one then fails."""


def browser() -> str:
    """The browser's program; skips the test where there is none."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None and os.environ.get(REQUIRED) != "1":
        pytest.skip(f"no browser: none of {', '.join(PROGRAMS)} is on the PATH (apt-get install chromium)")
    assert found, f"{REQUIRED}=1, but none of {', '.join(PROGRAMS)} is on the PATH"
    return found


def visit(page: Path, fragment: str, *arguments: str, budget: int = 6000) -> str:
    """What the browser prints for a page, such as its DOM with `--dump-dom`, after so many milliseconds of its own
    time."""
    profile = page.parent / "profile"
    command = [
        browser(), "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
        f"--user-data-dir={profile}", f"--virtual-time-budget={budget}", *arguments, f"file://{page}#{fragment}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def screenshot(page: Path, fragment: str, width: int = 1400, height: int = 900) -> Path:
    """A picture of the page."""
    target = page.parent / "shot.png"
    visit(page, fragment, f"--screenshot={target}", f"--window-size={width},{height}")
    return target
