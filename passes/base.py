"""What a pass is: a frozen dataclass with a name, options as fields, and `run`, which rewrites a module in place.

A pass states in its docstring what it expects and what it leaves. It raises PassError, with the place in the user's
file, when it meets IR that it does not handle. It never asks which chip the code is for.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

from mlir_gemm.errors import PassError
from mlir_gemm.spec import former_names
from mlir_gemm.spec.passes import shown

P = TypeVar("P", bound="Pass")


@dataclass(frozen=True)
class Pass(ABC):
    """Base of all passes. Options are dataclass fields of type bool, int, str or tuple of int."""

    name: ClassVar[str]
    """The name on the command line: the module's name with hyphens."""

    @abstractmethod
    def run(self, module: Any) -> None:
        """Rewrites `module` (a builtin.module operation) in place."""

    @classmethod
    def from_text(cls: type[P], options: str) -> P:
        """The pass with options from text such as `block=128,128,64 pad=8`. Raises PassError."""
        return cls(**_read_options(cls, options))

    def __str__(self) -> str:
        options = " ".join(f"{name}={shown(value)}" for name, value in dataclasses.asdict(self).items())
        return f"{self.name}{{{options}}}" if options else self.name


@dataclass(frozen=True)
class Rewrite(Pass):
    """Base of passes that rewrite a product where the model asks for it."""

    kernel: str = ""
    """The name of the product's module in a program; empty for the only product."""

    def refuses(self, function: Any) -> str:
        """Why it does not take the product of a kernel's function; empty where it does, or says so when it runs."""
        return ""


_OPTION = re.compile(r"\s*([A-Za-z_][\w-]*)=(\S+)\s*")


def _read_options(cls: type[Pass], text: str) -> dict[str, Any]:
    defaults = {field.name: field.default for field in dataclasses.fields(cls)}
    options: dict[str, Any] = {}
    position = 0
    while position < len(text.rstrip()):
        found = _OPTION.match(text, position)
        if not found:
            raise PassError(f"pass '{cls.name}': cannot read options at '{text[position:]}'; write name=value")
        name, value, position = found[1].replace("-", "_"), found[2], found.end()
        if name in former_names.OPTIONS.get(cls.name, {}):
            now = former_names.OPTIONS[cls.name][name]
            raise PassError(f"the option '{name}' of pass '{cls.name}' is now called '{now}'")
        if name not in defaults:
            close = difflib.get_close_matches(name, defaults, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            known = ", ".join(defaults) or "none"
            raise PassError(f"pass '{cls.name}' has no option '{name}'{hint} (options: {known})")
        options[name] = _read(cls, name, defaults[name], value)
    return options


def _read(cls: type[Pass], name: str, default: Any, text: str) -> Any:
    try:
        if isinstance(default, bool):
            return {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}[text.lower()]
        if isinstance(default, int):
            return int(text)
        if isinstance(default, tuple):
            values = tuple(int(part) for part in re.split("[,x]", text))
            wanted = len(cast("tuple[Any, ...]", default))
            if len(values) != wanted or min(values) < 1:
                raise ValueError
            return values
    except (KeyError, ValueError):
        raise PassError(f"pass '{cls.name}': option '{name}={text}' is not a value like {shown(default)}") from None
    return text
