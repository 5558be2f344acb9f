"""The compiler's attributes on operations of other dialects: one table says where they stand and with which values."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from compiled_text import product

from mlir_gemm.dialect.attributes import ARGUMENT, MARKS, OWN, verify_attributes
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.errors import InputError, PassError
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.runner import VerifyAttributes, check_attributes, run_passes
from mlir_gemm.spec import attributes

CONTEXT = new_context()
NAMES = [value for value in vars(attributes).values() if isinstance(value, str) and value.startswith(OWN)]
ROOT = Path(__file__).resolve().parents[2]

PLACES: dict[str, Callable[[str], str]] = {
    "builtin.module": lambda marks: f"module attributes {{{marks}}} {{\n}}",
    "func.func": lambda marks: f"func.func @f() attributes {{{marks}}} {{\n  return\n}}",
    ARGUMENT: lambda marks: f"func.func @f(%a: memref<?x8xf16> {{{marks}}}) {{\n  return\n}}",
    "a result": lambda marks: f"func.func private @f() -> (index {{{marks}}})",
    "memref.alloc": lambda marks: (
        f"func.func @f() {{\n  %a = memref.alloc() {{{marks}}} : memref<8x8xf16, 3>\n  return\n}}"
    ),
    "tile.position": lambda marks: (
        f'func.func @f() {{\n  %a = "tile.position"() {{{marks}}} : () -> memref<8x8xi64>\n  return\n}}'
    ),
    "tile.windows": lambda marks: (
        'func.func @f(%x: memref<8x8xf16>) {\n  %a = "tile.windows"(%x) {high = array<i64: 0, 0>,'
        " low = array<i64: 0, 0>, offset = 0 : i64, shape = array<i64: 8, 8>, sizes = [array<i64: 8>, array<i64: 8>],"
        f" strides = [array<i64: 8>, array<i64: 1>], {marks}}} : (memref<8x8xf16>) -> memref<8x8xf16>\n  return\n}}"
    ),
    "memref.view": lambda marks: (
        "func.func @f(%b: memref<128xi8, 3>, %i: index) {\n"
        f"  %a = memref.view %b[%i][] {{{marks}}} : memref<128xi8, 3> to memref<8x8xf16, 3>\n  return\n}}"
    ),
    "affine.for": lambda marks: f"func.func @f() {{\n  affine.for %i = 0 to 4 {{\n  }} {{{marks}}}\n  return\n}}",
    "scf.for": lambda marks: (
        f"func.func @f(%i: index) {{\n  scf.for %j = %i to %i step %i {{\n  }} {{{marks}}}\n  return\n}}"
    ),
    "scf.forall": lambda marks: f"func.func @f() {{\n  scf.forall (%i) in (9) {{\n  }} {{{marks}}}\n  return\n}}",
    "linalg": lambda marks: (
        "func.func @f(%a: memref<8x8xf16>) {\n"
        f"  linalg.copy {{{marks}}} ins(%a : memref<8x8xf16>) outs(%a : memref<8x8xf16>)\n  return\n}}"
    ),
    "nvgpu.device_async_create_group": lambda marks: (
        f"func.func @f() {{\n  %t = nvgpu.device_async_create_group {{{marks}}}\n  return\n}}"
    ),
    "gpu.func": lambda marks: (
        f"gpu.module @g {{\n  gpu.func @k() kernel attributes {{{marks}}} {{\n    gpu.return\n  }}\n}}"
    ),
    "llvm.func": lambda marks: f"llvm.func @k() attributes {{{marks}}} {{\n  llvm.return\n}}",
}
"""A module with attributes on one operation, by what that is."""

BLOCKS = "{size = array<i64: 8, 8>, rows = array<i64: 0>, columns = array<i64: 1>}"
VALUES = (
    "unit", "0 : i64", "1 : i64", "2 : i64", "64 : i64", "-1 : i64", "2 : i32", "1.0 : f32", "true", '"import"',
    '"cooked"', '"elementwise"', '"in"', '"xor"', '"pad"', '"k"', '"flags"', "[]", '["s0", ""]', "[1]", "{}",
    "{s0 = 4 : i64}", '{s0 = "4"}', "array<i64: 0, 1>", "array<i1: true>", "f32", '"lower"', '"k>m"', '"n>m"',
    '"3xtf32"', '"dual"', "array<i64: 2, 1>", BLOCKS,
    '"k>m+3, k<n"', '"2 kn"',
)  # fmt: skip
RIGHT = {
    attributes.STAGE: {'"import"', '"lower"'},
    attributes.CHIP: {
        '"import"',
        '"cooked"',
        '"elementwise"',
        '"in"',
        '"xor"',
        '"pad"',
        '"k"',
        '"flags"',
        '"lower"',
        '"k>m"',
        '"n>m"',
        '"3xtf32"',
        '"dual"',
        '"k>m+3, k<n"',
        '"2 kn"',
    },
    attributes.STAND_INS: {"{}", "{s0 = 4 : i64}"},
    attributes.CUTS: {"{}", '{s0 = "4"}'},
    attributes.KIND: {'"elementwise"'},
    attributes.SCHEDULE: {"{}", "{s0 = 4 : i64}", '{s0 = "4"}', BLOCKS},
    attributes.SPLIT_K_WORKSPACE: {"2 : i64", "64 : i64"},
    attributes.ROLE: {'"in"'},
    attributes.SCALAR: {"unit"},
    attributes.OPEN_STRIDES: {"unit"},
    attributes.PADDED: {"array<i64: 0, 1>", "array<i64: 2, 1>"},
    attributes.TRIANGULAR: {'"lower"'},
    attributes.SPARSE: {'"2:4"'},
    attributes.BANDED: {"array<i64: 0, 1>", "array<i64: 2, 1>"},
    attributes.BLOCK_DIAGONAL: {"array<i64: 2, 1>"},
    attributes.BLOCKS: {BLOCKS},
    attributes.ZEROS: {'"k>m"', '"k>m+3, k<n"'},
    attributes.MASKED: {'"n>m"'},
    attributes.LAID_OUT: {'"2 kn"'},
    attributes.EMULATED: {'"3xtf32"'},
    attributes.ALGEBRA: {"{}", *(value for value in VALUES if value.startswith('"'))},
    attributes.SYMBOLS: {"[]", '["s0", ""]'},
    attributes.KERNEL: {"0 : i64", "1 : i64", "2 : i64", "64 : i64"},
    attributes.LEVEL: {'"k"'},
    attributes.LAYOUT: {'"xor"'},
    attributes.SCRATCH: {'"flags"'},
    attributes.CLUSTER: {"1 : i64", "2 : i64"},
    attributes.COOPERATIVE: {"2 : i64", "64 : i64"},
    attributes.WARPS: {"1 : i64", "2 : i64"},
    attributes.PING_PONG: {"1 : i64", "2 : i64"},
    attributes.TILES: {"unit"},
}
"""What of the values above is right; of an attribute that is not here, the same as of another of its kind."""
LIKE = {
    attributes.STAND_INS: (attributes.DIVISORS, attributes.HINTS),
    attributes.CHIP: (attributes.NOTE, attributes.REFERENCE, attributes.NAME, attributes.OFFSET),
    attributes.SCHEDULE: (attributes.PROBLEM, attributes.ROWS, attributes.LAUNCH_WITH),
    attributes.SYMBOLS: (
        attributes.STRIDES, attributes.CHECKS, attributes.LEAST, attributes.MOST, attributes.ASSERTS, attributes.JOINED,
    ),
    attributes.PADDED: (attributes.MAPS,),
    attributes.CLUSTER: (attributes.SPLIT_K_CLUSTER, attributes.CLUSTER_ROWS),
    attributes.TILES: (
        attributes.PART, attributes.UNTIL_REDUCTION, attributes.FROM_REDUCTION, attributes.COMMIT,
        attributes.DEPENDENT_LAUNCH, attributes.COMPLEX, attributes.SYMMETRIC, attributes.APART,
    ),
}  # fmt: skip


def said(text: str) -> str:
    """What is said of the attributes in a module; empty where they are right."""
    try:
        verify_attributes(parse_module(text, "-", CONTEXT, own=True))
    except InputError as error:
        assert error.location is not None
        return error.message
    return ""


def test_every_name_has_a_row_in_the_table_and_in_the_documentation() -> None:
    assert sorted(MARKS) == sorted(NAMES)
    assert set(RIGHT) | {each for group in LIKE.values() for each in group} == set(NAMES)
    documented = (ROOT / "docs" / "dialect.md").read_text()
    assert [name for name in NAMES if f"`{name}`" not in documented] == []
    assert {place for mark in MARKS.values() for place in mark.on} | {"a result"} == set(PLACES)


@pytest.mark.parametrize("name", NAMES)
def test_values_that_mean_nothing_are_refused(name: str) -> None:
    right = next(RIGHT[key] for key in RIGHT if key == name or name in LIKE.get(key, ()))
    for place in MARKS[name].on:
        for value in VALUES:
            found = said(PLACES[place](f"{name} = {value}"))
            if value in right:
                assert found == "", f"{value} on {place}"
            else:
                assert re.match(rf"'{name}' is .+; expected \S", found), f"{value} on {place}: {found}"


@pytest.mark.parametrize("name", NAMES)
def test_places_where_it_says_nothing_are_refused(name: str) -> None:
    for place, module in PLACES.items():
        if place not in MARKS[name].on:
            found = said(module(f"{name} = 1 : i64"))
            assert re.match(rf"'{name}' on .+; expected it on .*{MARKS[name].on[0]}", found), f"{place}: {found}"


def test_in_a_program_the_error_says_in_which_kernel() -> None:
    """Also after a pass, in which case the error is the pass's."""
    text = "module { module @main_0 { module { func.func private @f() attributes {tile.kind = 1 : i64} } } }"
    module = parse_module(text, "-", CONTEXT, own=True)
    with pytest.raises(InputError) as caught:
        verify_attributes(module)
    assert caught.value.notes == ("in the kernel 'main_0'",)
    with pytest.raises(PassError, match=r"after pass 'cse': 'tile\.kind' is 1") as after:
        check_attributes(module, "after pass 'cse'")
    assert after.value.notes == ("in the kernel 'main_0'",) and "in the kernel 'main_0'" in str(after.value)


@pytest.mark.parametrize("place", PLACES)
def test_an_unknown_name_is_refused_with_the_closest(place: str) -> None:
    wanted = "'tile.lop': the compiler has no attribute of that name; did you mean 'tile.loop'?"
    assert said(PLACES[place]("tile.lop = 1 : i64")) == wanted
    assert said(PLACES[place]("mine.lop = 1 : i64")) == ""


def test_attributes_on_operations_of_the_dialect_are_looked_at_too() -> None:
    wanted = "'tile.loop' on 'tile.commit'; expected it on affine.for or scf.for"
    assert said('func.func @f() {\n  "tile.commit"() {tile.loop = "k"} : () -> ()\n  return\n}') == wanted


def test_a_layout_is_of_shared_memory() -> None:
    text = PLACES["memref.alloc"]('tile.layout = "xor"')
    assert said(text) == ""
    assert said(text.replace(", 3>", ">")) == (
        "'tile.layout' on a buffer of memref<8x8xf16>; expected one in memory space 3"
    )
    assert said(text.replace('"xor"', '"pad8"')) == said(text.replace('"xor"', '"swizzle64"')) == ""


LOOP = 'func.func @f() {\n  affine.for %i = 0 to 4 {\n  } {tile.loop = "q"}\n  return\n}'


def test_opt_refuses_what_it_reads_at_its_place() -> None:
    with pytest.raises(InputError, match=r"'tile.loop' is \"q\"; expected \"block\" or \"k\"") as caught:
        run_passes(LOOP, ["cse"])
    assert str(caught.value.location) == "-:2:3"


def test_a_name_that_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match="an attribute whose name is no UTF-8 text") as caught:
        run_passes('func.func @f() {\n  func.call @f() {"tile.\\EC" = 3} : () -> ()\n  return\n}', ["cse"])
    assert str(caught.value.location) == "-:2:3"


def test_saved_text_is_refused_at_its_place() -> None:
    saved = compile_module(product(), chip="sm_80", until="tile", keep=("tile",)).ir("tile")
    wrong = saved.replace('tile.loop = "k"', 'tile.loop = "kk"', 1)
    assert wrong != saved
    with pytest.raises(InputError, match=r"'tile\.loop' is \"kk\"; expected") as caught:
        compile_module(wrong)
    assert caught.value.location is not None


def test_a_pass_that_leaves_a_wrong_one_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlir_gemm.passes.distribute.distribute_warps.WARPS", "tile.wraps")
    with pytest.raises(PassError, match=r"after stage 'distribute': 'tile.wraps': .* did you mean 'tile.warps'\?"):
        compile_module(product(), chip="sm_80")
    with pytest.raises(PassError, match=r"after pass 'distribute-warps.*': 'tile.wraps': "):
        compile_module(product(), chip="sm_80", hooks=(VerifyAttributes(),))
