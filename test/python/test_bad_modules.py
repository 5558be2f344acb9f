"""Modules at fault: exit status 1, a message with the place, what is wrong and what would be right; no file left."""

# ruff: noqa: F401, F811 - fixtures are imported

from __future__ import annotations

import re
from pathlib import Path

import pytest
from compiled_text import GOOD, Compile, compile_, product

from mlir_gemm.tools.main import main

DECLARATION = "func.func private @g()"
SECOND = "linalg.matmul ins(%A, %B : memref<64x64xf16>, memref<64x64xf16>) outs(%C : memref<64x64xf32>)"
TRANSPOSED = """
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @f(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  linalg.matmul indexing_maps = [#a, #b, #c]
    ins(%A, %B : memref<64x64xf16>, memref<64x64xf16>) outs(%C : memref<64x64xf32>)
  return
}
"""

TILED = """#tiled = affine_map<(i, j) -> (i floordiv 4, j, i mod 4)>
func.func @f(%A: memref<64x64xf16, #tiled>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  linalg.matmul ins(%A, %B : memref<64x64xf16, #tiled>, memref<64x64xf16>) outs(%C : memref<64x64xf32>)
  return
}
"""
FILL = """func.func @f(%A: memref<4xf16>, %s: vector<2xf16>) {
  %z = arith.constant 0.0 : f16
  linalg.fill ins(%z : f16) outs(%A : memref<4xf16>)
  return
}
"""
LOOP = """func.func @f(%A: memref<64x64xf16>, %B: memref<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c0 {
    linalg.exp ins(%A : memref<64x64xf16>) outs(%B : memref<64x64xf16>)
  }
  return
}
"""
AFFINE = """func.func @f(%A: memref<64xf16>, %B: memref<64xf16>) {
  affine.for %i = 0 to 64 {
    %x = affine.load %A[%i] : memref<64xf16>
    affine.store %x, %B[%i floordiv 2] : memref<64xf16>
  }
  return
}
"""
BRANCH = """func.func @f(%A: memref<64xf16>, %B: memref<64xf16>) {
  cf.br ^end
^end:
  linalg.exp ins(%A : memref<64xf16>) outs(%B : memref<64xf16>)
  return
}
"""
NOTHING = """func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  return %e : tensor<4xf32>
}
"""
UNWRITTEN = """%x = memref.alloc() : memref<64x64xf32>
  linalg.exp ins(%x : memref<64x64xf32>) outs(%C : memref<64x64xf32>)"""
LESSER_SIZE = """func.func @f(%A: tensor<?xf16>) -> tensor<?xf16> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %A, %c0 : tensor<?xf16>
  %most = arith.constant 100 : index
  %two = arith.minui %d, %most : index
  %e = tensor.empty(%two) : tensor<?xf16>
  %z = arith.constant 0.0 : f16
  %r = linalg.fill ins(%z : f16) outs(%e : tensor<?xf16>) -> tensor<?xf16>
  return %r : tensor<?xf16>
}
"""
GIVEN_SIZE = """func.func @f(%A: tensor<?xf16>, %n: index) -> tensor<?xf16> {
  %e = tensor.empty(%n) : tensor<?xf16>
  %r = linalg.exp ins(%A : tensor<?xf16>) outs(%e : tensor<?xf16>) -> tensor<?xf16>
  return %r : tensor<?xf16>
}
"""
CONSTANT = """memref.global constant @data : memref<4xf32> = dense<1.0>
func.func @f(%C: memref<4xf32>) {{
  %g = memref.get_global @data : memref<4xf32>
  memref.copy {}, {} : memref<4xf32> to memref<4xf32>
  return
}}
"""
FILLED = "arith.constant dense<0.0> : tensor<8xf32>"


def summed(start: str, kind: str = "reduction") -> str:
    """A module that sums the rows of a matrix."""
    return f"""#rows = affine_map<(m, k) -> (m)>
#both = affine_map<(m, k) -> (m, k)>
func.func @f(%x: tensor<8x4xf32>) -> tensor<8xf32> {{
  %e = {start}
  %0 = linalg.generic {{indexing_maps = [#both, #rows], iterator_types = ["parallel", "{kind}"]}}
    ins(%x : tensor<8x4xf32>) outs(%e : tensor<8xf32>) {{
  ^bb0(%a: f32, %c: f32):
    %d = arith.addf %a, %c : f32
    linalg.yield %d : f32
  }} -> tensor<8xf32>
  return %0 : tensor<8xf32>
}}
"""


def weights(value: str) -> str:
    """A module that multiplies by a constant."""
    return f"""func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %w = arith.constant {value} : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.mul ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}
"""


def on_function(attribute: str) -> str:
    return GOOD.replace(") {", f") attributes {{{attribute}}} {{", 1)


def on_module(attribute: str) -> str:
    return f"module attributes {{{attribute}}} {{\n{GOOD}}}\n"


def program(run: str, *, name: str = "@k", kind: str = "product") -> str:
    """A program of one kernel, which computes nothing."""
    return f"""module attributes {{tile.stage = "import"}} {{
  func.func @main(%a: memref<64xf16>) {{
    %p = memref.extract_aligned_pointer_as_index %a : memref<64xf16> -> index
    {run}
    return
  }}
  module {name} {{
    func.func @k(%a: memref<64xf16>) attributes {{tile.kind = "{kind}"}} {{
      return
    }}
  }}
}}
"""


BAD_MODULES = {
    "empty": ("", None, "no function"),
    "blank": ("\n\n  \n", None, "no function"),
    "only a comment": ("// nothing\n", None, "no function"),
    "prose": ("hello, world\n", (1, 1), ""),
    "cut short": (GOOD[: len(GOOD) // 2], (3, None), ""),
    "100,000 nested parentheses": ("(" * 100_000, (1, None), ""),
    "100,000 nested regions": ("module {" * 100_000, None, ""),
    "a NUL byte": ("func.func @f() {\0 return }", (1, None), ""),
    "unknown dialect": ("module { foo.bar }", (1, None), ""),
    "a value used with another type": (GOOD.replace("outs(%C : memref<64", "outs(%C : memref<32"), (3, None), ""),
    "sizes that do not fit": (product(b="32x64xf16"), (3, None), ""),
    "nothing computed": ("func.func @f() {\n  return\n}\n", (1, None), "computes nothing"),
    "a constant beside a module": (
        "%c = arith.constant 1 : index\nmodule {\n" + GOOD.replace("64x", "?x") + "\n}",
        (1, 6),
        "'arith.constant' in the module",
    ),
    "only a declaration": ("func.func private @f(memref<64x64xf16>)", None, "no function with a body"),
    "two functions": (GOOD + GOOD.replace("@matmul", "@other"), None, "choose one with --entry NAME"),
    "complex numbers": (
        product(*["64x64xcomplex<f32>"] * 3),
        (2, 1),
        "complex<f32>>; expected complex tensors, or memrefs of real",
    ),
    "a size that is the lesser of two": (LESSER_SIZE, (6, 8), "no sum, product or quotient of the arguments' sizes"),
    "a size that is a number": (GIVEN_SIZE, (2, 8), "'tensor.empty' uses argument 1, a number (index)"),
    "open sizes and a stride": (product("?x64xf16, strided<[128, 1]>"), (2, 1), "has dynamic sizes and a layout"),
    "in shared memory": (product("64x64xf16, 3"), None, "memory space"),
    "negative strides": (product("64x64xf16, strided<[-64, 1], offset: 4032>"), (2, 1), "has a negative stride"),
    "a result in one place": (product(c="64x64xf32, strided<[0, 1]>"), (3, 3), "share places"),
    "rows that overlap": (product(c="64x64xf32, strided<[32, 1]>"), (3, 3), "share places"),
    "a layout without strides": (TILED, (2, 1), "a layout without strides"),
    "unranked": (
        "func.func @f(%A: tensor<*xf16>) -> tensor<*xf16> {\n  return %A : tensor<*xf16>\n}",
        (1, 1),
        "tensor<*x",
    ),
    "unsigned": (product(*["64x64xui8"] * 2, "64x64xi32"), (2, 36), "ui8"),
    "four bits": (product(*["64x64xi4"] * 2, "64x64xi32"), (2, 1), "element type i4; expected one of f16"),
    "sizes of 2^40": (product("64x1099511627776xf16", "1099511627776x64xf16, strided<[4096, 1]>"), (2, 1), "2^48"),
    "sizes of 2^63": (product("64x9223372036854775807xf16", "9223372036854775807x64xf16"), (2, 1), "2^48"),
    "an offset of 2^62": (product("64x64xf16, strided<[64, 1], offset: 4611686018427387904>"), (2, 1), "2^48"),
    "too many blocks": (
        product("1099511627776x64xf16", "64x64xf16", "1099511627776x64xf32"),
        (3, 3),
        "blocks in the grid",
    ),
    "a vector": (FILL, (1, 1), "argument 1 has type vector<2xf16>; expected tensors, memrefs, or numbers"),
    "a memref returned": (
        "func.func @f(%A: memref<4xf16>) -> memref<4xf16> {\n  return %A : memref<4xf16>\n}",
        (2, 3),
        "",
    ),
    "a loop": (LOOP, (4, 3), "'scf.for' in steps of 0; expected 1 or more"),
    "an affine loop": (AFFINE, (4, 5), "is no sum of loops times numbers"),
    "a branch": (BRANCH, (1, 1), "branches between blocks"),
    "a sum into nothing": (summed("tensor.empty() : tensor<8xf32>"), (5, 8), "has no values yet; fill it first"),
    "nothing written": (NOTHING, (3, 3), "result 0 is never computed"),
    "a parallel sum": (summed(FILLED, kind="parallel"), (5, 8), "loop d1, which is parallel but not in the map"),
    "an unknown iterator": (summed(FILLED, kind="window"), (6, None), "window"),
    "a memref.alloc read": (product(after=UNWRITTEN), (5, 3), "before anything is written to it"),
    "a constant written": (CONSTANT.format("%C", "%g"), (4, 3), "writes to a constant"),
    "a global that changes": (CONSTANT.format("%g", "%C").replace("constant", ""), (3, 8), "may change"),
    "data that is missing": (weights("dense_resource<missing>"), (2, 8), "resource 'missing' is not in the module"),
    "a module inside": (f"module {{{GOOD}module @k {{{GOOD}}}\n}}", None, 'the name "matmul" is defined twice'),
    "GPU code": (f"module {{{GOOD}gpu.module @k {{}}\n}}", (7, 1), "'gpu.module' in the module"),
    "a name with a blank": (GOOD.replace("@matmul", '@"mat mul"'), (2, 1), "cannot name a kernel in PTX"),
    "a name with a dot": (GOOD.replace("@matmul", "@mat.mul"), (2, 1), "cannot name a kernel in PTX"),
    "a name in German": (GOOD.replace("@matmul", '@"größe"'), (2, 1), "cannot name a kernel in PTX"),
    "an operation of the dialect tile": (product(after='"tile.commit"() : () -> ()'), (4, 3), "'tile.commit' is not"),
    "another operation": (product(after="func.call @g() : () -> ()", before=DECLARATION), (4, 3), "func.call"),
}

GOOD_MODULES = {
    "two products": product(after=SECOND),
    "f64": product("64x64xf64", "64x64xf64", "64x64xf64"),
    "bf16": product("64x64xbf16", "64x64xbf16"),
    "integers": product("64x64xi8", "64x64xi8", "64x64xi32"),
    "mixed": product(b="64x64xf32"),
    "a size of zero": product("0x64xf16", "64x64xf16", "0x64xf32"),
    "a sum of nothing": product("64x0xf16", "0x64xf16"),
    "a row again and again": product("64x64xf16, strided<[0, 1]>"),
    "dynamic sizes": product("?x64xf16", "64x?xf16", "?x?xf32"),
    "rank 0": """func.func @dot(%a: memref<64xf16>, %b: memref<64xf16>, %c: memref<f32>) {
  linalg.dot ins(%a, %b : memref<64xf16>, memref<64xf16>) outs(%c : memref<f32>)
  return
}
""",
    "private": GOOD.replace("func.func", "func.func private"),
    "64-bit integers": product(*["64x64xi64"] * 3),
    "integers times floats": product("64x64xi8"),
    "a schedule of its own": on_function("tile.schedule = {block = [64, 64, 32]}"),
    "a chip of its own": on_module('tile.chip = "sm_90"'),
    "strided": product("64x64xf16, strided<[128, 1]>"),
    "transposed": TRANSPOSED,
}
"""Unusual, but nothing is wrong with them."""

OWN = "the compiler writes such attributes itself"
BAD_ATTRIBUTES = {
    "the kind of a kernel": (on_function('tile.kind = "elementwise"'), (2, 1), OWN),
    "no kind at all": (on_function("tile.kind = 3"), (2, 1), OWN),
    "a problem": (on_function("tile.problem = {m = 3}"), (2, 1), OWN),
    "an invention": (on_function("tile.shedule = {}"), (2, 1), "did you mean 'tile.schedule'?"),
    "a role": (GOOD.replace("16>,", '16> {tile.role = "in"},', 1), (2, 1), OWN),
    "a name that is none": (GOOD.replace("16>,", "16> {tile.name = 3},", 1), (2, 1), "'tile.name' is 3"),
    "a loop": (GOOD.replace("linalg.matmul ins", 'linalg.matmul {tile.loop = "k"} ins'), (3, 3), OWN),
    "a note": (on_module('tile.note = "mine"'), (1, 1), OWN),
    "no such stage": (on_module('tile.stage = "cooked"'), (1, 1), 'expected "import" or "select"'),
    "a stage that is none": (on_module("tile.stage = 3"), (1, 1), "'tile.stage' is 3"),
    "a stage not reached": (on_module('tile.stage = "tile"'), (3, 1), "but its function has no tile.schedule"),
    "no such chip": (on_module('tile.chip = "sm_1"'), (1, 1), "unknown chip 'sm_1'"),
    "a chip that is none": (on_module("tile.chip = 80"), (1, 1), "'tile.chip' is 80"),
    "a schedule in words": (on_function('tile.schedule = "fast"'), (2, 1), "expected a dictionary"),
    "no such field": (on_function("tile.schedule = {blok = [64, 64, 32]}"), (2, 1), "did you mean 'block'?"),
    "a flat tile": (on_function("tile.schedule = {block = [64, 64]}"), (2, 1), "three positive sizes"),
    "a tile of nothing": (on_function("tile.schedule = {block = [0, 64, 32]}"), (2, 1), "three positive sizes"),
    "a tile of letters": (on_function('tile.schedule = {block = [64, "a", 32]}'), (2, 1), "block=64xax32"),
    "half a stage": (on_function("tile.schedule = {stages = 2.5}"), (2, 1), "stages=2.5"),
    "a tile as a tensor": (
        on_function("tile.schedule = {block = dense<64> : tensor<3xi64>}"),
        (2, 1),
        "block=dense<64>",
    ),
    "a huge tile": (on_function("tile.schedule = {block = [1099511627776, 64, 32]}"), (3, 3), "at most 1024"),
}
"""What the compiler calls its own, in a source."""

BAD_PROGRAMS = {
    "no such kernel": (program('"tile.run"(%p) {kernel = "other"} : (index) -> ()'), ""),
    "a kernel without a name": (program("", name=""), "a module inside the module has no name"),
    "a run without a kernel": (program('"tile.run"(%p) : (index) -> ()'), "kernel"),
    "more buffers than arguments": (program('"tile.run"(%p, %p) {kernel = "k"} : (index, index) -> ()'), ""),
    "a kernel that computes nothing": (
        program('"tile.run"(%p) {kernel = "k"} : (index) -> ()', kind="elementwise"),
        "",
    ),
    "a kernel of another kind": (
        program('"tile.run"(%p) {kernel = "k"} : (index) -> ()', kind="magic"),
        'expected "product"',
    ),
}
"""Saved after `import`, and then edited badly."""


def test_the_good_one_compiles(compile_: Compile, tmp_path: Path):
    assert compile_(GOOD) == (0, "")
    assert ".entry" in (tmp_path / "out.ptx").read_text()


@pytest.mark.parametrize("name", BAD_MODULES)
def test_module(name: str, compile_: Compile):
    text, place, message = BAD_MODULES[name]
    status, err = compile_(text)
    assert status == 1
    assert message in err
    found = re.match(r"in\.mlir:(\d+):(\d+): error: \S", err)
    assert found, err[:500]
    if place:
        line, column = place
        assert int(found[1]) == line
        assert column in (None, int(found[2]))


@pytest.mark.parametrize("name", GOOD_MODULES)
def test_unusual_module(name: str, compile_: Compile):
    assert compile_(GOOD_MODULES[name]) == (0, "")


@pytest.mark.parametrize("name", BAD_ATTRIBUTES)
def test_attribute(name: str, compile_: Compile):
    text, place, message = BAD_ATTRIBUTES[name]
    status, err = compile_(text)
    assert status == 1
    assert err.startswith(f"in.mlir:{place[0]}:{place[1]}: error: "), err[:500]
    assert message in err


@pytest.mark.parametrize("name", BAD_PROGRAMS)
def test_program(name: str, compile_: Compile):
    text, message = BAD_PROGRAMS[name]
    status, err = compile_(text)
    assert status == 1
    assert re.match(r"in\.mlir:\d+:\d+: error: \S", err), err[:500]
    assert message in err


def test_more_than_this_machine_holds(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    (tmp_path / "in.mlir").write_text(product("64x1099511627776xf16", "1099511627776x64xf16"))
    assert main(["run", str(tmp_path / "in.mlir"), "--device", "simulator"]) == 1
    assert "error: not enough memory on this machine" in capfd.readouterr().err


def test_bytes_that_are_no_text(compile_: Compile):
    status, err = compile_(b"func.func @f() {\n  \xff\xfe\n}")
    assert status == 1
    assert err.startswith("in.mlir:2:3: error: byte 0xff is not UTF-8; expected MLIR in its text form")
    assert compile_(bytes(range(256)) * 100)[0] == 1


def test_schedule_in_the_module_is_checked_in_place(compile_: Compile):
    pinned = GOOD.replace(") {", ") attributes {tile.schedule = {blok = [64, 64, 32]}} {", 1)
    status, err = compile_(pinned)
    assert status == 1
    assert re.match(r"in\.mlir:\d+:\d+: error: ", err)
