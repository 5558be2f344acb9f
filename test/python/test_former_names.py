"""Names of earlier versions: whoever uses one is told the new one."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from mlir_gemm.dialect.attributes import MARKS, verify_attributes
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.errors import InputError, PassError
from mlir_gemm.pipeline.registry import names, parse_pass, pass_class, pass_of
from mlir_gemm.spec import former_names
from mlir_gemm.spec.passes import step

DIALECT = Path(__file__).resolve().parents[2] / "dialect"
OPERATIONS = re.findall(
    r'\(Tile\.Operation, name="(\w+)"', "".join(path.read_text() for path in sorted(DIALECT.glob("*.py")))
)


@pytest.mark.parametrize(("former", "now"), former_names.PASSES.items())
def test_a_former_name_of_a_pass_is_an_error_that_says_the_new_one(former: str, now: str) -> None:
    assert now in names() and former not in names()
    for refused in (
        lambda: parse_pass(former),
        lambda: parse_pass(f"{former}{{blocks=4}}"),
        lambda: pass_of(step(former)),
    ):
        with pytest.raises(PassError, match=f"the pass '{former}' is now called '{now}'"):
            refused()


@pytest.mark.parametrize(
    ("name", "former", "now"),
    [(name, former, now) for name, options in former_names.OPTIONS.items() for former, now in options.items()],
)
def test_a_former_name_of_an_option_is_an_error_that_says_the_new_one(name: str, former: str, now: str) -> None:
    with pytest.raises(PassError, match=f"the option '{former}' of pass '{name}' is now called '{now}'"):
        parse_pass(f"{name}{{{former}=1}}")
    options = {field.name for field in dataclasses.fields(pass_class(name))}
    assert now in options and former not in options


@pytest.mark.parametrize(("former", "now"), former_names.ATTRIBUTES.items())
def test_a_former_name_of_an_attribute_is_an_error_that_says_the_new_one(former: str, now: str) -> None:
    module = parse_module(f"module attributes {{{former} = 2 : i64}} {{}}", "f.mlir", new_context())
    with pytest.raises(InputError, match=f"the attribute '{former}' is now called '{now}'"):
        verify_attributes(module)
    assert now in MARKS and former not in MARKS


def test_a_name_that_no_pass_ever_had_is_an_error() -> None:
    with pytest.raises(PassError, match="there is no pass 'nonsense'"):
        pass_of(step("nonsense"))


def parse(operation: str) -> None:
    """A module with an operation on nothing."""
    parse_module(f'func.func @f() {{\n  "{operation}"() : () -> ()\n  return\n}}', "f.mlir", new_context())


@pytest.mark.parametrize(("former", "now"), former_names.OPERATIONS.items())
def test_a_former_name_of_an_operation_is_an_error_that_says_the_new_one(former: str, now: str) -> None:
    with pytest.raises(InputError, match=f"unregistered operation '{former}'") as refused:
        parse(former)
    assert refused.value.notes == (f"'{former}' is now called '{now}'",)
    assert now.removeprefix("tile.") in OPERATIONS and former.removeprefix("tile.") not in OPERATIONS
