"""Work that is counted, not timed: calls of functions, and modules that are loaded. The numbers are the same whatever
the machine does meanwhile; limits leave room for half as much again as was counted when they were written."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any


def calls(work: Callable[[], Any]) -> int:
    """Calls in this thread, of functions in Python and in C, while something is done."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def modules_loaded(code: str) -> list[str]:
    """The modules that a new interpreter loads for some code, beyond those that it has anyway."""
    lines = [
        "import sys, json",
        "before = set(sys.modules)",
        "try:",
        f"    exec({code!r})",
        "except SystemExit:",
        "    pass",
        "print('\\n' + json.dumps(sorted(set(sys.modules) - before)))",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])
