"""Every operation of the tile dialect refuses what it does not mean, and says what would be right."""

import re

import pytest
from tile_forms import ADD, BOTH, ONE, PLACED, RIGHT, VALUES, WRONG, segments

from mlir_gemm.dialect import tile
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.errors import InputError
from mlir_gemm.pipeline.runner import run_passes


def _generic(text: str) -> str:
    """`%0 = tile.op(operands) {attributes} : results` in MLIR's generic form."""
    found = re.fullmatch(r"(?:(%0\S*) = )?(tile\.\w+)\((.*?)\)(?: (\(\{.*\}\)))?(?: (\{.*?\}))?(?: : (.*))?", text)
    assert found, text
    result, name, operands, region, attributes, results = found.groups()
    given = [VALUES[each] for each in operands.split(", ") if each]
    types = ", ".join(given)
    own = segments(name, given, (results or "").count("vector"))
    if own:
        attributes = f"{{{own}{', ' if attributes else ''}{(attributes or '{}')[1:]}"
    made = f"{result} = " if result else ""
    return f'{made}"{name}"({operands}) {region or ""} {attributes or ""} : ({types}) -> ({results or ""})'


def _parse(body: str) -> None:
    arguments = ", ".join(f"{name}: {type_}" for name, type_ in VALUES.items())
    parse_module(f"func.func @f({arguments}) {{\n{body}\nreturn\n}}", "f.mlir", CONTEXT)


CONTEXT = new_context()


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_right_parses(text: str) -> None:
    _parse(_generic(text))


@pytest.mark.parametrize(("text", "reason"), WRONG)
def test_what_is_wrong_is_refused_with_what_would_be_right(text: str, reason: str) -> None:
    found = re.search(r"tile\.\w+", text)
    assert found
    with pytest.raises(InputError) as refused:
        _parse(_generic(text))
    assert refused.value.message.startswith(f"'{found[0]}': ")
    assert reason in refused.value.message
    assert refused.value.location is not None
    assert refused.value.location.line == 2


def test_every_operation_has_a_right_and_a_wrong_form() -> None:
    names = {operation.OPERATION_NAME for operation in tile.Tile.operations} - {"tile.warp_specialize", "tile.yield"}
    assert names == {found[0] for text in RIGHT if (found := re.search(r"tile\.\w+", text))}
    assert names == {found[0] for text, _ in WRONG if (found := re.search(r"tile\.\w+", text))}


@pytest.mark.parametrize(
    ("regions", "reason"),
    [
        ("({}, {^bb0:})", "producer has no blocks; expected one"),
        ("({^bb0:}, {^bb0: cf.br ^bb1 ^bb1:})", "consumer has 2 blocks; expected one"),
        ("({^bb0(%n: index):}, {^bb0:})", "producer has 1 block argument; expected none"),
    ],
)
def test_each_role_is_one_block(regions: str, reason: str) -> None:
    _parse('"tile.warp_specialize"() ({^bb0:}, {^bb0:}) : () -> ()')
    with pytest.raises(InputError, match=reason):
        _parse(f'"tile.warp_specialize"() {regions} : () -> ()')


@pytest.mark.parametrize(
    ("region", "reason"),
    [
        ("({})", "has no blocks; expected one"),
        ("({^bb0(%x: f32, %y: f32): %z = arith.addf %x, %y : f32})",
         "its block ends in 'arith.addf'; expected tile.yield"),
        (f'({{^bb0(%x: f32, %y: f32): "tile.yield"() {ONE.replace("1", "0")} : () -> ()}})',
         "its block yields nothing; expected f32"),
        (f'({{^bb0(%x: f32): "tile.yield"(%x) {ONE} : (f32) -> ()}})', "its block takes f32; expected f32, f32"),
        ('({^bb0(%x: f32, %y: f32): %t = gpu.thread_id x '
         '"tile.yield"(%x) {operandSegmentSizes = array<i32: 1, 0>} : (f32) -> ()})',
         "'gpu.thread_id' in its block; expected operations of arith and math"),
    ],
)  # fmt: skip
def test_a_reduction_combines_in_one_block(region: str, reason: str) -> None:
    _parse(_generic(f"%0 = tile.reduce(%acc) {ADD} {{dim = 1 : i64}} : vector<64x1xf32>"))
    with pytest.raises(InputError, match=reason):
        _parse(_generic(f"%0 = tile.reduce(%acc) {region} {{dim = 1 : i64}} : vector<64x1xf32>"))


def test_a_reduction_of_several_values() -> None:
    _parse(_generic(f"%0:2 = tile.reduce(%acc, %acc) {BOTH} {{dim = 0 : i64}} : vector<1x64xf32>, vector<1x64xf32>"))
    with pytest.raises(InputError, match="its block takes f32, f32; expected f32, f32, f32, f32"):
        _parse(_generic(f"%0:2 = tile.reduce(%acc, %acc) {ADD} {{dim = 0 : i64}} : vector<1x64xf32>, vector<1x64xf32>"))
    types = "vector<1x64xf32>, vector<1x64xf16>"
    _parse(_generic(f"%0:2 = tile.reduce(%acc, %half) {PLACED} {{dim = 0 : i64}} : {types}"))
    with pytest.raises(InputError, match="its block takes f32, f32, f32, f32; expected f32, f16, f32, f16"):
        _parse(_generic(f"%0:2 = tile.reduce(%acc, %half) {BOTH} {{dim = 0 : i64}} : {types}"))
    with pytest.raises(InputError, match="vector<64x64xf32> and vector<64x32xi32>; expected one shape"):
        types = "vector<1x64xf32>, vector<1x32xi32>"
        _parse(_generic(f"%0:2 = tile.reduce(%acc, %whole) {PLACED} {{dim = 0 : i64}} : {types}"))


def test_only_a_reduction_yields() -> None:
    with pytest.raises(InputError, match=r"stands in 'scf.if'; expected it in tile.reduce"):
        _parse(f'%t = arith.constant true\nscf.if %t {{\n"tile.yield"(%acc) {ONE} : (vector<64x64xf32>) -> ()\n}}')


def test_attributes_of_others_are_left_alone() -> None:
    _parse('"tile.commit"() {mine.note = "x"} : () -> ()')


def test_a_pass_that_makes_a_wrong_operation_is_found_out() -> None:
    """opt verifies what it reads; compile does not look at what upstream's passes leave as it is."""
    text = """func.func @f(%a: memref<32x64xf16>, %c: vector<32x32xf32>) {
      %d = "tile.mma"(%a, %a, %c) {a = "zz", b = "kn"} :
        (memref<32x64xf16>, memref<32x64xf16>, vector<32x32xf32>) -> vector<32x32xf32>
      return }"""
    with pytest.raises(InputError, match='a = "zz"; expected "mk" or "km"'):
        run_passes(text, ["cse"])
