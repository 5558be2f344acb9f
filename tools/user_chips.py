"""The user's table of chips (`runtime/own_chip.py`), as `probe` and `tune --fit` write it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mlir_gemm.errors import Error
from mlir_gemm.runtime import own_chip
from mlir_gemm.tools.files import write_outputs


def path_of_table(given: str | None, option: str) -> Path:
    """The file: what an option names, else the user's own. Raises Error where there is none."""
    path = own_chip.table_path() if given is None else Path(given)
    if path is None:
        raise Error(
            f"{own_chip.VARIABLE} turns the user's table off, or there is no folder for it; say where with {option}"
        )
    return path


def content_of(path: Path, option: str) -> dict[str, Any]:
    """What a table has so far. Raises Error for a file that is something else, which is left as it is."""
    if path.is_char_device():
        raise Error(f"'{path}' is a device, no table of chips; give a file with {option}")
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] == own_chip.FORMAT and isinstance(content["gpus"], dict):
            return content
    except FileNotFoundError:
        return {"format": own_chip.FORMAT, "gpus": {}}
    except OSError as error:
        raise Error(f"cannot read '{path}': {error.strerror or error}") from None
    except (ValueError, LookupError, TypeError):
        pass
    raise Error(
        f"'{path}' is no table of chips that this version reads (format {own_chip.FORMAT}); move it, or give {option}"
    )


def keep(path: Path, content: dict[str, Any]) -> None:
    """Writes a table in one step. Raises Error; the file is as it was then."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(f"cannot write '{path}': {error.strerror or error}") from None
    write_outputs({str(path): json.dumps(content, indent=1) + "\n"})
