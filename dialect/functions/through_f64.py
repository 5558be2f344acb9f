"""Functions of f32 that are computed in f64 and rounded once: inverse, hyperbolic and other rare ones.

Each takes and gives f64 numbers that stand for f32. What a polynomial loses is below 2^-32, so results are within 0.51
of a unit in the last place of f32, zeros keep their signs, and infinities and NaN are as in C. On chips made for
graphics f64 is slow; these functions are rare in what frameworks write. The coefficients are Chebyshev fits of our own,
at 40 digits, highest power first; the error stands beside each.
"""

from __future__ import annotations

from mlir_gemm.dialect.functions import approximations
from mlir_gemm.dialect.functions.angles import quarter_turns
from mlir_gemm.dialect.functions.approximations import polynomial
from mlir_gemm.dialect.functions.number import INFINITY, NAN, Number, absolute, select, square_root, with_sign

ATAN = (0.03295679541870136, -0.06027307460946675, 0.07604800046078292, -0.09084101895346429, 0.11110819716745676,
        -0.142857081103604, 0.19999999949854794, -0.33333333333266196)  # fmt: skip
"""(atan(x)/x - 1) / x^2 in x^2, for |x| <= tan(pi/8): 2^-40."""
SIN = (1.5918129294866608e-10, -2.5051131845003624e-08, 2.755731610255244e-06, -0.00019841269836758574,
       0.008333333333330948, -0.16666666666666666)  # fmt: skip
"""(sin(x)/x - 1) / x^2 in x^2, for |x| <= pi/4: 2^-55."""
COS = (2.0665504870122736e-09, -2.755585551192951e-07, 2.480158262335195e-05, -0.0013888888882127952,
       0.04166666666663093, -0.49999999999999967)  # fmt: skip
"""(cos(x) - 1) / x^2 in x^2, for |x| <= pi/4: 2^-51."""
SINH = (1.6290047203302096e-10, 2.5049503805057475e-08, 2.7557332743306003e-06, 0.00019841269809566648,
        0.008333333333360515, 0.1666666666666663)  # fmt: skip
"""(sinh(x)/x - 1) / x^2 in x^2, for |x| <= 1: 2^-51."""
ASINH = (0.01496928464031081, -0.022209715000777897, 0.03037675652453426, -0.044642781726989884, 0.07499999959747651,
         -0.1666666666663175)  # fmt: skip
"""(asinh(x)/x - 1) / x^2 in x^2, for |x| <= 1/4: 2^-41."""
ATANH = (0.0908336814405884, 0.08989756868692779, 0.11114441126196513, 0.14285665102994266, 0.20000000264528972,
         0.3333333333310353)  # fmt: skip
"""(atanh(x)/x - 1) / x^2 in x^2, for |x| <= 1/4: 2^-38."""
ERFC = (-0.0224215360755274, 0.3527707136410185, -1.932832630949547, 5.512376852954261, -9.35471987423159,
        9.899042920126204, -6.653775453662933, 3.0946637062938587, -1.2215708455205492, 0.17193884359985945,
        0.040703223682413005, 0.3796230029091603, 0.9997048116457851, -1.2655037343259015)  # fmt: skip
"""log(erfc(x) exp(x^2) / t) in t = 2 / (2 + x), for 0 <= x <= 11: 2^-32."""
PI = 3.141592653589793
TAN_PI_8 = 0.41421356237309503
ERFC_END = 10.5
"""From here on erfc is 0 in f32."""


def _odd(x: Number, tail: tuple[float, ...]) -> Number:
    """x + x^3 tail(x^2)."""
    square = x * x
    return x + x * (square * polynomial(square, tail))


def atan(x: Number) -> Number:
    return with_sign(_atan_of_positive(absolute(x)), x)


def _atan_of_positive(x: Number) -> Number:
    large = x > 1.0
    inner = select(large, 1.0 / x, x)
    further = inner > TAN_PI_8
    near = select(further, (inner - 1.0) / (inner + 1.0), inner)
    angle = _odd(near, ATAN)
    angle = select(further, angle + PI / 4, angle)
    return select(large, PI / 2 - angle, angle)


def atan2(y: Number, x: Number) -> Number:
    """The angle of (x, y), with C's values for zeros and infinities."""
    up, across = absolute(y), absolute(x)
    both = up.equals(across)
    ratio = select(both, select(up.equals(0.0), 0.0, up.like(1.0)), up / across)
    angle = _atan_of_positive(ratio)
    negative = with_sign(x.like(1.0), x) < 0.0
    angle = select(negative, PI - angle, angle)
    broken = x.differs(x) | y.differs(y)
    return select(broken, NAN, with_sign(angle, y))


def asin(x: Number) -> Number:
    size = absolute(x)
    angle = atan2(size, square_root((1.0 - size) * (size + 1.0)))
    return with_sign(angle, x)


def acos(x: Number) -> Number:
    return atan2(square_root((1.0 - x) * (x + 1.0)), x)


def tan(x: Number) -> Number:
    whole, rest = quarter_turns(x, 32)
    r = rest.high
    square = r * r
    sine, cosine = r + r * (square * polynomial(square, SIN)), square * polynomial(square, COS) + 1.0
    odd = (whole & 1).equals(1)
    result = select(odd, 0.0 - cosine, sine) / select(odd, sine, cosine)
    result = select(absolute(x) < INFINITY, result, NAN)
    return select(x.equals(0.0), x, result)


def sinh(x: Number) -> Number:
    size = absolute(x)
    power = approximations.exp(size)
    large = (power - 1.0 / power) * 0.5
    return with_sign(select(size < 1.0, _odd(size, SINH), large), x)


def cosh(x: Number) -> Number:
    power = approximations.exp(absolute(x))
    return (power + 1.0 / power) * 0.5


def asinh(x: Number) -> Number:
    size = absolute(x)
    large = approximations.log(size + square_root(size * size + 1.0))
    return with_sign(select(size < 0.25, _odd(size, ASINH), large), x)


def acosh(x: Number) -> Number:
    return select(x < 1.0, NAN, approximations.log(x + square_root((x - 1.0) * (x + 1.0))))


def atanh(x: Number) -> Number:
    size = absolute(x)
    large = approximations.log((size + 1.0) / (1.0 - size)) * 0.5
    return with_sign(select(size < 0.25, _odd(size, ATANH), select(size > 1.0, NAN, large)), x)


def cbrt(x: Number) -> Number:
    size = absolute(x)
    root = approximations.exp(approximations.log(size) * (1.0 / 3.0))
    return with_sign(select(size.equals(0.0), 0.0, root), x)


def erfc(x: Number) -> Number:
    size = absolute(x)
    held = select(size < ERFC_END, size, ERFC_END)
    t = 2.0 / (held + 2.0)
    tail = t * approximations.exp(polynomial(t, ERFC) - held * held)
    tail = select(size < ERFC_END, tail, 0.0)
    result = select(x < 0.0, 2.0 - tail, tail)
    return select(x.differs(x), x, result)
