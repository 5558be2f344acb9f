"""The faithful engine on vectors and numbers of each lane, against NumPy: shapes, functions, integers, conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_kernels import DTYPES, random, run


# Vectors.
def test_vectors_of_two_dimensions():
    code = """
      %x = vector.load %a[%t, %c0] : memref<32x8xf32>, vector<8xf32>
      %m = vector.shape_cast %x : vector<8xf32> to vector<2x4xf32>
      %t2 = vector.transpose %m, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
      %row = vector.extract %t2[1] : vector<2xf32> from vector<4x2xf32>
      %e = vector.extract %m[1, 2] : f32 from vector<2x4xf32>
      %n = vector.insert %e, %t2 [3, 0] : f32 into vector<4x2xf32>
      %o = vector.insert %row, %n [0] : vector<2xf32> into vector<4x2xf32>
      %slice = vector.extract_strided_slice %o {offsets = [1, 0], sizes = [2, 2], strides = [1, 1]}
        : vector<4x2xf32> to vector<2x2xf32>
      %twice = arith.addf %slice, %slice : vector<2x2xf32>
      %back = vector.insert_strided_slice %twice, %o {offsets = [2, 0], strides = [1, 1]}
        : vector<2x2xf32> into vector<4x2xf32>
      %lane8 = arith.remui %t, %c8 : index
      %flat = vector.shape_cast %back : vector<4x2xf32> to vector<8xf32>
      %own = vector.extract %flat[%lane8] : f32 from vector<8xf32>
      %set = vector.insert %own, %flat [0] : f32 into vector<8xf32>
      %p, %q = vector.to_elements %row : vector<2xf32>
      %f = vector.from_elements %q, %p : vector<2xf32>
      %sh = vector.shuffle %set, %f [8, 1, 2, 3, 4, 5, 6, 9] : vector<8xf32>, vector<2xf32>
      %sum = vector.reduction <add>, %f : vector<2xf32> into f32
      %u = vector.insert %sum, %sh [1] : f32 into vector<8xf32>
      vector.store %u, %b[%t, %c0] : memref<32x8xf32>, vector<8xf32>"""
    a, b = random("f32", 32, 8), np.zeros((32, 8), np.float32)
    assert not run(code, [a, b], threads=32, roles="in out").findings
    for lane in range(32):
        m = a[lane].reshape(2, 4)
        t = m.T.copy()
        row = t[1].copy()
        t[3, 0] = m[1, 2]
        t[0] = row
        t[2:4] = 2 * t[1:3].copy()
        flat = t.reshape(8)
        flat[0] = flat[lane % 8]
        want = np.concatenate([flat, row[::-1]])[[8, 1, 2, 3, 4, 5, 6, 9]]
        want[1] = row.sum()
        np.testing.assert_array_equal(b[lane], want)


def test_bits_are_read_as_another_type():
    code = """
      %x = vector.load %a[%t, %c0] : memref<32x4xi8>, vector<4xi8>
      %y = vector.bitcast %x : vector<4xi8> to vector<2xf16>
      vector.store %y, %b[%t, %c0] : memref<32x2xf16>, vector<2xf16>
      %z = vector.bitcast %y : vector<2xf16> to vector<1xi32>
      %w = vector.extract %z[0] : i32 from vector<1xi32>
      %f = arith.bitcast %w : i32 to f32
      memref.store %f, %c[%t] : memref<32xf32>"""
    a, b, c = random("i8", 32, 4), np.zeros((32, 2), np.float16), np.zeros(32, np.float32)
    assert not run(code, [a, b, c], threads=32, roles="in out out").findings
    np.testing.assert_array_equal(b.view(np.int8), a)
    np.testing.assert_array_equal(c.view(np.int8).reshape(32, 4), a)


# Numbers.
UNARY: dict[str, Callable[[Any], Any]] = {
    "math.exp": np.exp, "math.exp2": np.exp2, "math.log": np.log, "math.log2": np.log2, "math.log1p": np.log1p,
    "math.expm1": np.expm1, "math.tanh": np.tanh, "math.erf": np.vectorize(math.erf), "math.sqrt": np.sqrt,
    "math.rsqrt": lambda x: 1 / np.sqrt(x), "math.absf": np.abs, "math.sin": np.sin, "math.cos": np.cos,
    "math.floor": np.floor, "math.ceil": np.ceil, "math.roundeven": np.rint, "math.trunc": np.trunc,
    "arith.negf": np.negative, "math.round": lambda x: np.floor(x + 0.5),
}  # fmt: skip


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("name", UNARY)
def test_functions_on_vectors_are_rounded_once(name: str, element: str):
    code = f"""
      %x = vector.load %a[%t, %c0] : memref<32x2x{element}>, vector<2x{element}>
      %m = vector.shape_cast %x : vector<2x{element}> to vector<2x1x{element}>
      %y = {name} %m : vector<2x1x{element}>
      %z = vector.shape_cast %y : vector<2x1x{element}> to vector<2x{element}>
      vector.store %z, %b[%t, %c0] : memref<32x2x{element}>, vector<2x{element}>"""
    a = np.linspace(0.1, 4, 64).astype(DTYPES[element]).reshape(32, 2)
    b = np.zeros_like(a)
    assert not run(code, [a, b], threads=32, roles="in out").findings
    np.testing.assert_array_equal(b, UNARY[name](a.astype(np.float64)).astype(DTYPES[element]))


INTEGERS: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "muli": lambda a, b: a * b, "xori": lambda a, b: a ^ b,
    "andi": lambda a, b: a & b, "ori": lambda a, b: a | b, "minsi": min, "maxsi": max,
    "floordivsi": lambda a, b: a // b, "ceildivsi": lambda a, b: -(-a // b),
    "divsi": lambda a, b: math.trunc(a / b), "remsi": lambda a, b: round(math.fmod(a, b)),
}  # fmt: skip
UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "minui": min, "maxui": max, "divui": lambda a, b: a // b, "remui": lambda a, b: a % b,
}  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([*INTEGERS, *UNSIGNED]), st.sampled_from([8, 16, 32]), st.randoms(use_true_random=False))
def test_integers_wrap_as_their_types_do(name: str, bits: int, draw: Any):
    half = 1 << (bits - 1)
    a, b = (np.array([draw.randrange(-half, half) for _ in range(32)]).astype(f"i{bits // 8}") for _ in range(2))
    b[b == 0] = 1
    code = f"""
      %x = memref.load %a[%t] : memref<32xi{bits}>
      %y = memref.load %b[%t] : memref<32xi{bits}>
      %z = arith.{name} %x, %y : i{bits}
      memref.store %z, %c[%t] : memref<32xi{bits}>"""
    c = np.zeros_like(a)
    assert not run(code, [a, b, c], threads=32, roles="in in out").findings
    for x, y, got in zip(a.tolist(), b.tolist(), c.tolist(), strict=True):
        mask = (1 << bits) - 1
        number = UNSIGNED[name](x & mask, y & mask) if name in UNSIGNED else INTEGERS[name](x, y)
        assert got == ((number + half) & mask) - half


def test_conversions_between_kinds():
    code = """
      %x = memref.load %a[%t] : memref<32xi8>
      %u = arith.extui %x : i8 to i32
      %si = arith.extsi %x : i8 to i32
      %fu = arith.uitofp %u : i32 to f32
      %fs = arith.sitofp %si : i32 to f32
      %d = arith.subf %fu, %fs : f32
      %i = arith.fptosi %d : f32 to i32
      %n = arith.trunci %i : i32 to i16
      memref.store %n, %b[%t] : memref<32xi16>"""
    a, b = np.arange(-16, 16).astype(np.int8), np.zeros(32, np.int16)
    assert not run(code, [a, b], threads=32, roles="in out").findings
    np.testing.assert_array_equal(b, a.view(np.uint8).astype(np.int16) - a)


def test_vectors_of_several_numbers():
    code = """
      %x = arith.constant dense<[[1.5, -2.0], [0.25, 3.0]]> : vector<2x2xf32>
      %h = arith.constant dense<[1.5, -2.0]> : vector<2xbf16>
      %i = arith.constant dense<[7, -9]> : vector<2xi32>
      %p = vector.extract %x[1, 0] : f32 from vector<2x2xf32>
      %q = vector.extract %h[1] : bf16 from vector<2xbf16>
      %r = vector.extract %i[1] : i32 from vector<2xi32>
      %w = arith.extf %q : bf16 to f32
      %f = arith.sitofp %r : i32 to f32
      %sum = arith.addf %p, %w : f32
      %all = arith.addf %sum, %f : f32
      memref.store %all, %b[%t] : memref<32xf32>"""
    b = np.zeros(32, np.float32)
    assert not run(code, [np.zeros(32, np.float32), b], threads=32, roles="in out").findings
    assert (b == 0.25 - 2 - 9).all()


# Conditions.
def test_lanes_take_different_cases_and_results_are_vectors():
    code = """
      %n = arith.remui %t, %c4 : index
      %one = arith.constant dense<1.0> : vector<2x2xf32>
      %x = memref.load %a[%t] : memref<32xf32>
      %v = vector.broadcast %x : f32 to vector<2x2xf32>
      %r = scf.index_switch %n -> vector<2x2xf32>
      case 1 {
        %y = arith.addf %v, %one : vector<2x2xf32>
        scf.yield %y : vector<2x2xf32>
      }
      case 3 { scf.yield %one : vector<2x2xf32> }
      default { scf.yield %v : vector<2x2xf32> }
      %q = arith.cmpf ogt, %x, %zero : f32
      %p = scf.if %q -> (vector<2x2xf32>) {
        %m = arith.mulf %r, %r : vector<2x2xf32>
        scf.yield %m : vector<2x2xf32>
      } else {
        scf.yield %r : vector<2x2xf32>
      }
      %e = vector.extract %p[1, 1] : f32 from vector<2x2xf32>
      memref.store %e, %b[%t] : memref<32xf32>"""
    a, b = random("f32", 32), np.zeros(32, np.float32)
    assert not run("%zero = arith.constant 0.0 : f32" + code, [a, b], threads=32, roles="in out").findings
    case = np.arange(32) % 4
    want = np.where(case == 1, a + 1, np.where(case == 3, 1, a)).astype(np.float32)
    np.testing.assert_array_equal(b, np.where(a > 0, want * want, want))


def test_shuffles_by_ptx():
    code = """
      %all = arith.constant -1 : i32
      %by = arith.constant 3 : i32
      %end = arith.constant 31 : i32
      %v = memref.load %a[%t] : memref<32xi32>
      %w = nvvm.shfl.sync bfly %all, %v, %by, %end : i32 -> i32
      memref.store %w, %b[%t] : memref<32xi32>"""
    a, b = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    assert not run(code, [a, b], threads=32, roles="in out").findings
    np.testing.assert_array_equal(b, a ^ 3)
