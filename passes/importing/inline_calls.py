"""inline-calls: one function is left of several, with what it calls in its body.

Expects a module as a user wrote it. Functions of modules inside it move out, where no name is there twice. The entry is
the function that `entry` names, else the only one with a body that no other calls. Calls are inlined, by upstream's
inline, and other functions go, private declarations among them. A module of one function that calls nothing is left
alone. Refuses a module with several entries, an entry that is not there, and calls that cannot be inlined: of functions
without a body, or that call themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir, passmanager
from mlir_gemm.dialect.locations import from_mlir, input_error, location_of
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import InputError, Location
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import STAGE


@dataclass(frozen=True)
class InlineCalls(Pass):
    """Leave one function, with what it calls in its body."""

    name: ClassVar[str] = "inline-calls"
    entry: str = ""
    """The function to keep; by default the only one that no other calls."""

    def run(self, module: Any) -> None:
        if STAGE in module.operation.attributes:
            return
        _move_out(module)
        functions = {_name(each): each for each in named(module, "func.func")}
        calls = named(module, "func.call")
        if len(functions) < 2 and not calls and not self.entry:
            return
        entry = self._entry(functions, calls)
        _check_calls(functions, calls)
        for name, function in functions.items():
            visibility = "public" if name == entry else "private"
            function.attributes["sym_visibility"] = ir.StringAttr.get(visibility)
        try:
            passmanager.PassManager.parse("builtin.module(inline,symbol-dce)").run(module.operation)
        except ir.MLIRError as error:
            raise from_mlir(error, "calls cannot be inlined") from None
        for function in named(module, "func.func"):
            if _name(function) == entry:
                del function.attributes["sym_visibility"]
            else:
                function.operation.erase()

    def _entry(self, functions: dict[str, Any], calls: list[Any]) -> str:
        if self.entry:
            if self.entry not in functions:
                known = ", ".join(functions) or "none"
                raise InputError(f"there is no function @{self.entry}; the module has {known}", Location("-", 1, 1))
            return self.entry
        called = {_callee(call) for call in calls}
        found = [name for name, each in functions.items() if len(each.regions[0].blocks) and name not in called]
        if len(found) == 1:
            return found[0]
        if not found:
            _check_calls(functions, calls)  # all are called: one calls itself, or what is called has no body
        names = ", ".join(f"@{name}" for name in found or functions)
        place = functions[found[1]] if found else next(iter(functions.values()))
        raise InputError(f"several functions that no other function calls: {names}; choose one with --entry NAME"
                         if found else f"no function that no other calls: {names}; choose one with --entry NAME",
                         location_of(place))  # fmt: skip


def _name(function: Any) -> str:
    return ir.StringAttr(function.attributes["sym_name"]).value


def _callee(call: Any) -> str:
    return ir.FlatSymbolRefAttr(call.attributes["callee"]).value


def _move_out(module: Any) -> None:
    """The functions and constants of modules inside a module, to it."""
    for inner in [each for each in in_block(body(module)) if each.operation.name == "builtin.module"]:
        _move_out(inner)
        taken = {str(each.attributes["sym_name"]) for each in in_block(body(module)) if "sym_name" in each.attributes
                 and each.operation != inner.operation}  # fmt: skip
        for each in in_block(body(inner)):
            if "sym_name" in each.attributes and str(each.attributes["sym_name"]) in taken:
                raise input_error(each, f"the name {each.attributes['sym_name']} is defined twice, in a module and in "
                                  "one around it; expected each name once")  # fmt: skip
        for each in in_block(body(inner)):
            each.operation.move_before(inner.operation)
        inner.operation.erase()


def _check_calls(functions: dict[str, Any], calls: list[Any]) -> None:
    """No call of a function without a body, and no function that calls itself."""
    needs: dict[str, set[str]] = {name: set() for name in functions}
    for call in calls:
        callee = _callee(call)
        if callee in functions and not len(functions[callee].regions[0].blocks):
            raise input_error(call, f"'func.call' of @{callee}, which has no body; expected its definition")
        parent = call.operation.parent
        while parent.name != "func.func":
            parent = parent.parent
        needs[_name(parent)].add(callee)

    def reaches(name: str, seen: frozenset[str]) -> bool:
        return name in seen or any(reaches(each, seen | {name}) for each in needs.get(name, ()))

    for call in calls:
        if reaches(_callee(call), frozenset()):
            raise input_error(call, f"'func.call' of @{_callee(call)}, which calls itself; expected no recursion")
