"""Where files of this user lie: what an environment variable says, else the platform's folder for data."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

OFF = "off"


def data_file(variable: str, name: str) -> Path | None:
    """The file that `variable` names, else `name` in the user's folder for data; None where the variable is `off` or
    there is no home."""
    setting = os.environ.get(variable, "").strip()
    if setting.lower() == OFF:
        return None
    if setting:
        return Path(os.path.expanduser(setting))
    folder = data_folder()
    return folder / name if folder.is_absolute() else None  # `~` stays where there is no home


def data_folder() -> Path:
    """The user's folder for data."""
    platformdirs: Any = importlib.import_module("platformdirs")  # late: few callers ask
    return Path(platformdirs.user_data_dir("mlir-gemm", appauthor=False))
