"""Sizes that are known at run time only: expressions, launches with them, and what binds them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from mlir_gemm.errors import ArgumentError, InputError
from mlir_gemm.runtime.parameters import Parameters
from mlir_gemm.spec import binding
from mlir_gemm.spec.launch import Argument, Buffer, Constant, Launch, Step
from mlir_gemm.spec.sizes import OPERATIONS, checked, compiled, product, shown, symbols_of, value

ONE = (1, 1, 1)
X = Argument("x", ("s0", 24), "f16", "in")
Y = Argument("y", ("s1", "s0"), "f32", "inout")
R = Argument("result0", ("s0", ("mul", "s1", 2)), "f32", "result")
STEP = Step("first", (("ceildiv", "s0", 16), 1, 1), (32, 1, 1), ONE, 64, (0, 3, "s0"))
NEXT = Step("second", (("mul", ("ceildiv", "s0", 16), ("ceildiv", "s1", 8)), 1, 1), (32, 1, 1), ONE, 0,
            (3, 4, 5, "s1", ("mul", "s0", "s1"), 2))  # fmt: skip
LAST = Step("last", (1, 1, 1), (32, 1, 1), ONE, 0, (4, 2))
PROGRAM = Launch(
    (X, Y, R),
    (STEP, NEXT, LAST),
    (Buffer(None, ("mul", "s0", 48)), Buffer(None, ("mul", ("mul", "s0", "s1"), 4))),
    (Constant("c", (2,), "i8", b"\x01\x02"),),
)
NUMBERS = some.integers(-40, 40)
SYMBOLS = ("a", "b")


def expressions() -> Any:
    return some.recursive(
        NUMBERS | some.sampled_from(SYMBOLS),
        lambda inner: some.tuples(some.sampled_from(sorted(OPERATIONS)), inner, inner),
        max_leaves=8,
    )


def by_hand(size: Any, values: dict[str, int]) -> int:
    if not isinstance(size, tuple):
        return values.get(size, size)
    name, x, y = size[0], by_hand(size[1], values), by_hand(size[2], values)
    if name == "ceildiv":
        return x // y + (x % y != 0)
    table: dict[str, Any] = {
        "add": int.__add__, "sub": int.__sub__, "mul": int.__mul__, "floordiv": int.__floordiv__,
        "mod": int.__mod__, "min": min, "max": max,
    }  # fmt: skip
    return table[name](x, y)


@given(expressions(), NUMBERS, NUMBERS)
@settings(max_examples=300, deadline=None)
def test_expressions_are_evaluated(size: Any, a: int, b: int) -> None:
    values = {"a": a, "b": b}
    try:
        wanted = by_hand(size, values)
    except ZeroDivisionError:
        with pytest.raises(ZeroDivisionError):
            value(size, values)
        return
    assert value(size, values) == wanted
    assert checked(json.loads(json.dumps(size))) == size
    assert eval(shown(size).replace("/", "//"), {"ceildiv": lambda x, y: -(-x // y), "min": min, "max": max}, values) \
        == wanted  # fmt: skip


@pytest.mark.parametrize("size", ["a b", "", 1.5, True, None, ("pow", "a", 2), ("mul", "a"), ("__import__", 1, 2), []])
def test_what_is_no_size_is_refused(size: Any) -> None:
    with pytest.raises(InputError, match=r"is no size; expected a number, a symbol, or an operation"):
        compiled((size,), ("a",))


def test_symbols_and_products() -> None:
    assert symbols_of(4, "b", ("add", "a", ("mul", "b", "c"))) == ("b", "a", "c")
    assert product((2, "a", 3, "b")) == ("mul", ("mul", "a", "b"), 6)
    assert (product(("a",)), product((2, 3)), product(("a", 0)), product(())) == ("a", 6, 0, 1)
    with pytest.raises(InputError, match="the size 'c' is not that of any argument; known sizes: a"):
        compiled(("c",), ("a",))


def test_a_launch_for_certain_sizes() -> None:
    assert (PROGRAM.symbols, PROGRAM.binding) == (("s0", "s1"), ((0, 0, 1), (1, 0, 1)))
    bound = PROGRAM.at((40, 3))
    assert [argument.shape for argument in bound.arguments] == [(40, 24), (3, 40), (40, 6)]
    assert [step.grid for step in bound.steps] == [(3, 1, 1), (3, 1, 1), (1, 1, 1)]
    assert bound.values == (40, 3, 120)
    assert [step.parameters for step in bound.steps] == [(0, 3, 6), (3, 4, 5, 7, 8, 2), (4, 2)]
    assert bound.buffers == (Buffer(0, 1920), Buffer(2048, 480)) and bound.workspace_bytes == 2560
    assert bound.symbols == () and bound.at(()) is bound
    slots = Parameters(bound, (7000,)).slots
    assert list(slots)[5:] == [7000, 40, 3, 120]


def test_sizes_of_zero() -> None:
    bound = PROGRAM.at((0, 5))
    assert [step.is_empty for step in bound.steps] == [True, True, False]
    assert (bound.workspace_bytes, bound.arguments[0].span_bytes) == (0, 0)


@pytest.mark.parametrize("launch", [PROGRAM, Launch((X, Y), (STEP,)), PROGRAM.at((5, 2))])
def test_json_and_back(launch: Launch) -> None:
    again = Launch.from_json(json.loads(json.dumps(launch.to_json())))
    assert again == launch and hash(again) == hash(launch)


def test_bytes_of_arguments() -> None:
    assert (X.span, R.span) == (("mul", "s0", 48), ("mul", ("mul", "s0", ("mul", "s1", 2)), 4))
    padded = Argument("p", ("s0", 24), "f16", "in", (32, 1))
    assert value(padded.span, {"s0": 3}) == 2 * (2 * 32 + 24)
    with pytest.raises(ValueError, match="the sizes of 'x' are not known"):
        _ = X.span_bytes


def test_a_size_that_no_argument_has() -> None:
    launch = Launch((X, Argument("result0", ("s0", "s9"), "f32", "result")), ())
    with pytest.raises(InputError, match="the size 's9' is not that of any argument; known sizes: s0"):
        _ = launch.binding


def test_arguments_bind_sizes() -> None:
    assert binding.bind([(7, 24), (2, 7)], PROGRAM) == (7, 2)
    message = (
        r"argument 1 \('y'\): its size 8 in dimension 1 must be 7, as follows from argument 0 \('x'\) with 7 in "
        r"dimension 0; the kernel takes \(s1, s0\) and \(s0, 24\)"
    )
    with pytest.raises(ArgumentError, match=message):
        binding.bind([(7, 24), (2, 8)], PROGRAM)
    with pytest.raises(ArgumentError, match=r"argument 0 \('x'\): shape \(7,\) given, the kernel takes \(s0, 24\)"):
        binding.bind([(7,), (2, 8)], PROGRAM)


def test_multiples_of_a_size_tell_it_too() -> None:
    rows = Argument("rows", (("mul", "s0", 5), 8), "f32", "in")
    launch = Launch((rows, Argument("r", ("s1", "s0"), "f32", "inout")), ())
    assert launch.binding == ((1, 1, 1), (1, 0, 1))
    assert binding.bind([(15, 8), (2, 3)], launch) == (3, 2)
    with pytest.raises(
        ArgumentError, match=r"argument 0 \('rows'\): its size 10 in dimension 0 must be 15, as follows"
    ):
        binding.bind([(10, 8), (2, 3)], launch)
    alone = Launch((rows, Argument("result0", ("s0", 40), "f32", "result")), ())
    assert alone.binding == ((0, 0, 5),) and binding.bind([(15, 8)], alone) == (3,)
    with pytest.raises(
        ArgumentError, match=r"its size 7 in dimension 0 must be a multiple of 5; .* takes \(s0\*5, 8\)"
    ):
        binding.bind([(7, 8)], alone)
