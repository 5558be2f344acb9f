"""Elementary functions as arithmetic: each formula builds operations of arith and math (fma, sqrt, absf, copysign).

CUDA's libdevice is not part of these bindings, so a math.exp that reaches the NVPTX back end has nothing to call. The
formulas here are what takes its place. CUDA's own functions promise 1 to 4 units in the last place (ulp; "CUDA C++
Programming Guide", Mathematical Functions Appendix). The largest errors of these, in ulp, measured on an H200 over all
2^32 numbers of f32, infinities, NaN, zeros with their signs and denormals among them, against CUDA's f64 functions; in
f64 by `test/python/test_math.py` with 140,000 numbers against a long double:

| f32 | ulp | f32 | ulp | f64 | ulp |
|---|---|---|---|---|---|
| exp | 0.99 | log | 0.85 | exp | 0.95 |
| exp2 | 0.87 | log2 | 1.95 | log | 0.74 |
| expm1 | 1.44 | log10 | 1.00 | tanh | 1.38 |
| tanh | 2.02 | log1p | 1.42 | erf | 2 (against a C library's f64) |
| erf | 1.29 | sin, cos | 1.58 | rsqrt | 1.50 |
| rsqrt | 1.50 | powf, fpowi | 0.51 (2^30 pairs) | | |

Other functions of f64 are in `in_f64`, rare ones of f32 in `through_f64`. f16 and bf16 are computed in f32 and rounded
once more. Angles of any size are reduced exactly (`angles`). tanh and erf of f32 use PTX's ex2.approx and rcp.approx
where that error is subtracted from something larger; by its specification both stay within 4 ulp on every chip. Powers,
sin and cos use a few operations of f64, which are slow on chips made for graphics.

The methods are the textbook ones: reduction to a small interval (Cody and Waite, "Software Manual for the Elementary
Functions", 1980), and a polynomial there. All coefficients are our own: minimax fits of the function named beside each
table, by iteratively reweighted least squares on Chebyshev nodes at 60 digits, minimising the relative error of the
result; the error of the fit stands beside the table, as a power of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.functions.angles import quarter_turns
from mlir_gemm.dialect.functions.number import (
    INFINITY,
    NAN,
    Number,
    absolute,
    divided_fast,
    exp2_fast,
    floor,
    fma,
    select,
    square_root,
    with_sign,
)


@dataclass(frozen=True)
class Format:
    """What the formulas need to know of a floating-point format."""

    mantissa: int
    bias: int
    round: float
    """1.5 times two to the mantissa: added to a number, its last bit is worth one."""
    round_bits: int
    half_sqrt: int
    """The bits of the square root of a half."""
    ln2: tuple[float, float]
    """The logarithm of two as a sum of two numbers of this format, the larger first."""
    exp: tuple[float, float]
    """Arguments below the first give zero, those above the second infinity."""
    expm1: tuple[float, float]
    """Arguments below the first give -1, those above the second infinity."""
    exp_tail: tuple[float, ...]
    """(exp r - 1 - r) / r^2 for |r| <= ln(2)/2, highest power first, like all tables here."""
    tanh_tail: tuple[float, ...]
    """(tanh(x)/x - 1) / x^2 in x^2, for |x| <= 0.57."""
    tanh_one: float
    """From here on tanh is one."""
    erf_near: tuple[float, ...]
    """erf(x)/x - 1 in x^2, for |x| <= erf_border."""
    erf_far: tuple[float, ...]
    """The logarithm of erfc(x) in x - erf_center, for erf_border <= x <= erf_one; to the base 2 for f32."""
    erf_border: float
    erf_center: float
    erf_one: float


F32 = Format(
    mantissa=23, bias=127, round=12582912.0, round_bits=0x4B400000, half_sqrt=0x3F3504F3,
    ln2=(0.693147182464599609375, -1.904654299957768e-09), exp=(-104.0, 89.0), expm1=(-18.0, 89.0),
    exp_tail=(1.9905438e-4, 1.3933716e-3, 8.333289e-3, 4.1666463e-2, 0.16666667, 0.5),  # 2^-29.5
    tanh_tail=(-6.1322995e-3, 2.0974569e-2, -5.382969e-2, 0.13332382, -0.3333331),  # 2^-29.4
    tanh_one=10.0,
    erf_near=(7.856242e-5, -8.01085e-4, 5.1883934e-3, -2.685384e-2, 0.112835854, -0.37612626, 0.12837917),  # 2^-29.7
    erf_far=(-3.1279607e-5, 6.366189e-4, -6.065425e-3, 3.6366537e-2, -0.1564129, -0.9135451, -1.6296363,
             2.7109054e-4),  # 2^-34.9
    erf_border=1.0, erf_center=0.0, erf_one=4.0,
)  # fmt: skip
F64 = Format(
    mantissa=52, bias=1023, round=6755399441055744.0, round_bits=0x4338000000000000, half_sqrt=0x3FE6A09E667F3BCD,
    ln2=(0.6931471805599453, 2.319046813846299e-17), exp=(-746.0, 710.0),
    expm1=(-40.0, 710.0),
    exp_tail=(1.6094305154872737e-10, 2.092451876417302e-09, 2.505204372190661e-08, 2.7557241508586574e-07,
              2.755731928369873e-06, 2.4801587363799795e-05, 0.0001984126984124104, 0.0013888888888863697,
              0.00833333333333334, 0.04166666666666671, 0.16666666666666666, 0.5),  # 2^-70.6
    tanh_tail=(-2.690253677604139e-06, 1.2724579899699063e-05, -3.754026331517003e-05, 9.627511532805687e-05,
               -0.00023896442132848803, 0.0005899974620908711, -0.0014558305277881873, 0.0035921276900909233,
               -0.008863235508836009, 0.021869488535330776, -0.053968253968234924, 0.1333333333333331,
               -0.3333333333333333),  # 2^-69.5
    tanh_one=20.0,
    erf_near=(-3.1603848610438595e-17, 1.1806869716399507e-15, -2.5507517596336696e-14, 4.378819403080558e-13,
              -6.688934801608996e-12, 9.418290045904865e-11, -1.2289879437820625e-09, 1.4807114845325377e-08,
              -1.6365837841585915e-07, 1.6462113911410413e-06, -1.4925650335976278e-05, 0.00012055332980985797,
              -0.000854832702343067, 0.005223977625441851, -0.026866170645131218, 0.11283791670955126,
              -0.37612638903183754, 0.1283791670955126),  # 2^-72.7
    erf_far=(8.17465055391656e-15, 1.2217073011963471e-13, 7.994799854824635e-13, 3.0385566600304353e-12,
              6.147975519605969e-12, 5.861708480269582e-12, -1.469194303563717e-11, -2.8083078402533068e-11,
              -9.103003349396678e-12, -7.483156133751207e-10, 7.45365336181404e-09, -5.94821516976919e-08,
              4.2887179942044367e-07, -2.8830384411750666e-06, 1.8506011020047215e-05, -0.0001153483108641077,
              0.0007104509022889949, -0.0044369126014001175, -0.9703663279843611, -7.750404061587924,
              -15.989462741350014),  # 2^-71.3
    erf_border=1.5, erf_center=3.75, erf_one=6.0,
)  # fmt: skip
EXP2 = (1.5308566e-5, 1.546166e-4, 1.333346e-3, 9.618056e-3, 5.550411e-2, 0.2402265, 0.6931472)
"""(2^r - 1) / r for |r| <= 1/2, in f32: 2^-32.6."""
LOG = (6.741924e-2, -0.11679415, 0.1189256, -0.12405352, 0.14218894, -0.1666797, 0.2000215, -0.25000012, 0.33333313)
"""(log(1 + f) - f + f^2/2) / f^3 for 1 + f between the square roots of a half and of two, in f32: 2^-30.3."""
LOG_F64 = (0.12050912780339135, 0.11666539060782213, 0.13336780810730864, 0.1538454280977816, 0.18181819120668424,
           0.2222222221489648, 0.2857142857146089, 0.3999999999999993, 0.6666666666666666)  # fmt: skip
"""(log((1 + s)/(1 - s)) / s - 2) / s^2 in s^2, where s = f / (2 + f) and f as above: 2^-72.8."""
SIN = (2.7179215e-6, -1.9839294e-4, 8.333329e-3, -0.16666667)
"""(sin(x)/x - 1) / x^2 in x^2 for |x| <= 0.79, in f32: 2^-37.5."""
COS = (-2.720739e-7, 2.4799485e-5, -1.3888883e-3, 4.1666668e-2)
"""(cos(x) - 1 + x^2/2) / x^4 in x^2 for |x| <= 0.79, in f32: 2^-43.1."""
POWER_LOG2 = (0.2831138169144895, 0.3198914859109583, 0.412209579066405, 0.5770779393480815, 0.9617966941228909,
              2.8853900817778455)  # fmt: skip
"""log2((1 + s)/(1 - s)) / s in s^2, s as in LOG_F64, in f64: 2^-45.1."""
POWER_EXP2 = (1.3262379184429421e-06, 1.5310306201424063e-05, 0.00015403421196037741, 0.00133334497202768,
              0.009618129210468044, 0.05550410942081479, 0.24022650695594555, 0.6931471805456888)  # fmt: skip
"""(2^r - 1) / r for |r| <= 1/2, in f64: 2^-40.2."""
LOG2_E = (1.44269502162933349609375, 1.925963033500011e-08)
LOG10_E = (0.4342944920063018798828125, -1.0103050118726031e-08)
LOG10_2 = (0.301030009984970092773438, -1.4320988897547387e-08)
"""Factors of the logarithms in f32, each as a sum of two numbers, the larger first."""


def polynomial(x: Number, coefficients: Sequence[float]) -> Number:
    """By Horner's rule, the highest power first."""
    result: Any = coefficients[0]
    for coefficient in coefficients[1:]:
        result = fma(x, result, coefficient)
    return result


def format_of(x: Number) -> Format:
    return {32: F32, 64: F64}[x.element.width]


def power_of_two(exponent: Number, x: Number) -> Number:
    """Two to an integer of the range of normal numbers, in the type of `x`."""
    form = format_of(x)
    return ((exponent + form.bias) << form.mantissa).converted("BitcastOp", x.element)


def scaled(x: Number, exponent: Number) -> Number:
    """x 2^exponent in two steps, each of which stays in the range of normal numbers: rounded at most once."""
    half = exponent >> 1
    return x * power_of_two(half, x) * power_of_two(exponent - half, x)


def clamped(x: Number, low: float, high: float) -> Number:
    x = select(x < low, low, x)
    return select(x > high, high, x)


def nearest(x: Number, factor: float) -> tuple[Number, Number]:
    """The integer nearest to x factor, as a float and as an integer (for NaN that is any number)."""
    form = format_of(x)
    shifted = fma(x, factor, form.round)
    return shifted - form.round, shifted.bits() - form.round_bits


def reduced_exp(x: Number) -> tuple[Number, Number]:
    """(e^r - 1, k) for x = k ln 2 + r."""
    form = format_of(x)
    whole, exponent = nearest(x, 1.4426950408889634)
    return exp_tail(fma(whole, -form.ln2[1], fma(whole, -form.ln2[0], x))), exponent


def exp_tail(r: Number) -> Number:
    """e^r - 1 for |r| <= ln(2)/2."""
    return fma(r * r, polynomial(r, format_of(r).exp_tail), r)


def exp(x: Number) -> Number:
    form = format_of(x)
    rest, exponent = reduced_exp(clamped(x, *form.exp))
    return scaled(rest + 1.0, exponent)


def exp_by_ex2(x: Number) -> Number:
    """exp of f32 within a relative error of 2^-21.4 by PTX's ex2.approx, in a third of the operations of `exp`: x is
    divided into whole powers of two and the rest, which together make the argument exact. Infinities, NaN and results
    that are denormal come out as they should."""
    arith, middle = dialect("arith"), F32.round + F32.bias
    shifted = fma(x, 1.4426950408889634, middle)
    shifted = Number(arith.MaxNumFOp(shifted.value, x.like(middle - 126.0).value).result)
    shifted = Number(arith.MinNumFOp(shifted.value, x.like(middle + 126.0).value).result)
    whole = shifted - middle
    rest = fma(x, 1.925963033500011e-08, fma(x, 1.4426950216293335, -whole))  # the two parts of log2(e)
    power = (shifted.bits() << F32.mantissa).converted("BitcastOp", x.element)
    return exp2_fast(rest) * power


def _exp_in_range(x: Number) -> Number:
    """exp of an argument whose result is known to be a normal number."""
    rest, exponent = reduced_exp(x)
    return (rest + 1.0) * power_of_two(exponent, x)


def exp2(x: Number) -> Number:
    x = clamped(x, -151.0, 129.0)
    whole, exponent = nearest(x, 1.0)
    r = x - whole
    return scaled(fma(r, polynomial(r, EXP2), 1.0), exponent)


def expm1(x: Number) -> Number:
    """2^k (e^r - 1) + (2^k - 1), at half the scale, because 2^128 is not an f32."""
    rest, exponent = reduced_exp(clamped(x, *format_of(x).expm1))
    scale = power_of_two(exponent - 1, x)
    result = select(exponent.equals(0), rest, fma(scale, rest, scale - 0.5) * 2.0)
    return with_sign(result, x)


def split(x: Number) -> tuple[Number, Number]:
    """(f, e) for a positive number x = 2^e (1 + f), 1 + f between the square roots of a half and of two."""
    form = format_of(x)
    small = x < 2.0 ** (1 - form.bias)
    bits = select(small, x * 2.0**form.mantissa, x).bits() - form.half_sqrt
    exponent = (bits >> form.mantissa).converted("SIToFPOp", x.element)
    exponent = select(small, exponent - float(form.mantissa), exponent)
    return _fraction(bits, x), exponent


def _fraction(bits: Number, x: Number) -> Number:
    form = format_of(x)
    return ((bits & ((1 << form.mantissa) - 1)) + form.half_sqrt).converted("BitcastOp", x.element) - 1.0


def of_positive(x: Number, zero: Number, inside: Number) -> Number:
    """`inside` where `zero` is positive and finite; else what a logarithm is: -inf for a `zero` of 0, and so on."""
    outside = select(zero.equals(0.0), -INFINITY, select(zero < 0.0, NAN, x))
    return select(zero > 0.0, select(zero < INFINITY, inside, x), outside)


def _log_tail(f: Number) -> Number:
    """log(1 + f) - f."""
    square = f * f
    return fma(square, -0.5, f * square * polynomial(f, LOG))


def log(x: Number) -> Number:
    f, exponent = split(x)
    return of_positive(x, x, _log_near_one(f, exponent))


def _log_near_one(f: Number, exponent: Number) -> Number:
    """log(2^exponent (1 + f)), f as `split` gives it."""
    high, low = format_of(f).ln2
    if format_of(f) is F64:
        s = f / (f + 2.0)
        square, half = s * s, f * f * 0.5
        # log(1 + f) = f - (half - s (half + tail)), where s (2 + s^2 R) = f - s (f - s^2 R)
        tail = fma(s, half + square * polynomial(square, LOG_F64), exponent * low)
        return fma(exponent, high, f - (half - tail))
    return fma(exponent, high, f + fma(exponent, low, _log_tail(f)))


def log2(x: Number) -> Number:
    f, exponent = split(x)
    small = fma(f, LOG2_E[1], _log_tail(f) * LOG2_E[0])
    return of_positive(x, x, fma(f, LOG2_E[0], exponent) + small)


def log10(x: Number) -> Number:
    f, exponent = split(x)
    small = fma(exponent, LOG10_2[1], fma(f, LOG10_E[1], _log_tail(f) * LOG10_E[0]))
    return of_positive(x, x, fma(exponent, LOG10_2[0], fma(f, LOG10_E[0], small)))


def log1p(x: Number) -> Number:
    """As log, with f = x 2^-e + (2^-e - 1) from x itself: 1 + x has lost its last digits."""
    form = format_of(x)
    bits = (x + 1.0).bits() - form.half_sqrt
    exponent = bits >> form.mantissa
    scale = power_of_two(0 - exponent, x)
    f = select(exponent > form.mantissa + 1, _fraction(bits, x), fma(x, scale, scale - 1.0))
    inside = _log_near_one(f, exponent.converted("SIToFPOp", x.element))
    return select(absolute(x) < 2.0 ** -(form.mantissa + 2), x, of_positive(x, x + 1.0, inside))


def tanh(x: Number) -> Number:
    form = format_of(x)
    square, size = x * x, absolute(x)
    near = fma(x * square, polynomial(square, form.tanh_tail), x)
    size = select(size > form.tanh_one, form.tanh_one, size)
    if form is F32:
        far = 1.0 - divided_fast(2.0, exp2_fast(size * (2.0 * LOG2_E[0])) + 1.0)
    else:
        far = 1.0 - 2.0 / (_exp_in_range(size * 2.0) + 1.0)
    return with_sign(select(size < 0.55, near, far), x)


def erf(x: Number) -> Number:
    form = format_of(x)
    size = absolute(x)
    near = fma(x, polynomial(x * x, form.erf_near), x)
    size = select(size > form.erf_one, form.erf_one, size)
    shifted = size - form.erf_center if form.erf_center else size
    logarithm = polynomial(shifted, form.erf_far)
    far = 1.0 - (exp2_fast(logarithm) if form is F32 else _exp_in_range(logarithm))
    return select(size < form.erf_border, near, with_sign(far, x))


def rsqrt(x: Number) -> Number:
    return 1.0 / square_root(x)


def sin(x: Number) -> Number:
    return select(x.equals(0.0), x, _circular(x, 0))


def cos(x: Number) -> Number:
    return _circular(x, 1)


def _circular(x: Number, quarter: int) -> Number:
    """sin(x + quarter pi/2)."""
    number, rest = quarter_turns(x.converted("ExtFOp", ir.F64Type.get()), 32)
    number, r = number + quarter, rest.high.converted("TruncFOp", x.element)
    square = r * r
    sine = fma(r * square, polynomial(square, SIN), r)
    cosine = fma(square * square, polynomial(square, COS), fma(square, -0.5, 1.0))
    result = select((number & 1).equals(0), sine, cosine)
    result = select((number & 2).equals(0), result, 0.0 - result)
    return select(absolute(x) < INFINITY, result, NAN)


def power(x: Number, y: Number, odd: Number | None = None) -> Number:
    """x^y for f32 x and f64 y, as C's pow defines it: 2^(y log2 |x|) in f64, rounded once. `odd` says whether y is odd,
    where y itself may be too large to tell."""
    wide = x.converted("ExtFOp", ir.F64Type.get())
    size = absolute(wide)
    logarithm = of_positive(size, size, _log2_f64(size))
    exponent = clamped(y * logarithm, -400.0, 400.0)
    whole, number = nearest(exponent, 1.0)
    r = exponent - whole
    result = fma(r, polynomial(r, POWER_EXP2), 1.0) * power_of_two(number, wide)
    return signed_power(wide, y, result, odd).converted("TruncFOp", x.element)


def signed_power(x: Number, y: Number, result: Number, odd: Number | None = None) -> Number:
    """|x|^y as `result` with what C's pow says of signs and special numbers."""
    size = absolute(x)
    result = select(size.equals(1.0), select(absolute(y) <= INFINITY, 1.0, y), result)
    half = y * 0.5
    odd = floor(y).equals(y) & floor(half).differs(half) if odd is None else odd
    result = select((x.bits() < 0) & odd, -result, result)
    result = select((x < 0.0) & (x > -INFINITY) & floor(y).differs(y), NAN, result)
    return select(x.equals(1.0) | y.equals(0.0), 1.0, result)


def _log2_f64(x: Number) -> Number:
    f, exponent = split(x)
    s = f / (f + 2.0)
    return fma(s, polynomial(s * s, POWER_LOG2), exponent)
