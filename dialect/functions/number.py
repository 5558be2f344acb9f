"""Arithmetic as formulas: values of MLIR with Python's operators, which build operations of arith and math."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir

APPROXIMATE = "#arith.fastmath<afn>"
"""The flag that lets an operation of f32 become PTX's own approximation."""
INFINITY, NAN = float("inf"), float("nan")


class Number:
    """A value of a float or integer type, or a vector of them, with the operators that a formula is written in.

    Each operator builds an operation at the insertion point. Python numbers become constants of the same type.
    Comparisons are ordered: false when an operand is NaN.
    """

    def __init__(self, value: Any):
        self.value = value
        self.type = value.type
        self.vector = isinstance(self.type, ir.VectorType)
        self.element = ir.VectorType(self.type).element_type if self.vector else self.type
        self.is_integer = isinstance(self.element, ir.IntegerType)

    def shaped(self, element: Any) -> Any:
        """The type of this shape with another element type."""
        return ir.VectorType.get(list(ir.VectorType(self.type).shape), element) if self.vector else element

    def like(self, other: Any) -> Any:
        """A Number of this type: a Number is returned as it is."""
        if isinstance(other, Number):
            return other
        attribute = (ir.IntegerAttr if self.is_integer else ir.FloatAttr).get(self.element, other)
        if self.vector:
            attribute = ir.DenseElementsAttr.get_splat(self.type, attribute)
        return Number(dialect("arith").ConstantOp(self.type, attribute).result)

    def _arith(self, on_floats: str, on_integers: str, other: Any, swapped: bool = False) -> Number:
        left, right = (self.like(other), self) if swapped else (self, self.like(other))
        make = getattr(dialect("arith"), on_integers if self.is_integer else on_floats)
        return Number(make(left.value, right.value).result)

    def __neg__(self) -> Number:
        return Number(dialect("arith").NegFOp(self.value).result)

    def __add__(self, other: Any) -> Number:
        return self._arith("AddFOp", "AddIOp", other)

    def __radd__(self, other: Any) -> Number:
        return self._arith("AddFOp", "AddIOp", other, swapped=True)

    def __sub__(self, other: Any) -> Number:
        return self._arith("SubFOp", "SubIOp", other)

    def __rsub__(self, other: Any) -> Number:
        return self._arith("SubFOp", "SubIOp", other, swapped=True)

    def __mul__(self, other: Any) -> Number:
        return self._arith("MulFOp", "MulIOp", other)

    def __truediv__(self, other: Any) -> Number:
        return self._arith("DivFOp", "", other)

    def __rtruediv__(self, other: Any) -> Number:
        return self._arith("DivFOp", "", other, swapped=True)

    def __and__(self, other: Any) -> Number:
        return self._arith("", "AndIOp", other)

    def __or__(self, other: Any) -> Number:
        return self._arith("", "OrIOp", other)

    def __lshift__(self, other: Any) -> Number:
        return self._arith("", "ShLIOp", other)

    def __rshift__(self, other: Any) -> Number:
        """The sign is shifted in."""
        return self._arith("", "ShRSIOp", other)

    def shifted_right(self, other: Any) -> Number:
        """Zeros are shifted in."""
        return self._arith("", "ShRUIOp", other)

    def remainder(self, other: Any) -> Number:
        """Of integers without a sign."""
        return self._arith("", "RemUIOp", other)

    def quotient(self, other: Any) -> Number:
        """Of integers without a sign."""
        return self._arith("", "DivUIOp", other)

    def _compare(self, on_floats: str, on_integers: str, other: Any) -> Number:
        arith, other = dialect("arith"), self.like(other)
        if self.is_integer:
            return Number(arith.CmpIOp(getattr(arith.CmpIPredicate, on_integers), self.value, other.value).result)
        return Number(arith.CmpFOp(getattr(arith.CmpFPredicate, on_floats), self.value, other.value).result)

    def __lt__(self, other: Any) -> Number:
        return self._compare("OLT", "slt", other)

    def __le__(self, other: Any) -> Number:
        return self._compare("OLE", "sle", other)

    def __gt__(self, other: Any) -> Number:
        return self._compare("OGT", "sgt", other)

    def __ge__(self, other: Any) -> Number:
        return self._compare("OGE", "sge", other)

    def below(self, other: Any) -> Number:
        """Of integers without a sign."""
        return self._compare("OLT", "ult", other)

    def equals(self, other: Any) -> Number:
        return self._compare("OEQ", "eq", other)

    def differs(self, other: Any) -> Number:
        """For floats, true also when an operand is NaN."""
        return self._compare("UNE", "ne", other)

    def converted(self, operation: str, element: Any) -> Number:
        """The result of a conversion of arith, named by its class, to an element type."""
        return Number(getattr(dialect("arith"), operation)(self.shaped(element), self.value).result)

    def bits(self) -> Number:
        """A float's bits as an integer."""
        return self.converted("BitcastOp", ir.IntegerType.get_signless(self.element.width))


def fma(a: Any, b: Any, c: Any) -> Number:
    """a b + c, rounded once. At least one operand is a Number."""
    model = next(operand for operand in (a, b, c) if isinstance(operand, Number))
    return Number(dialect("math").FmaOp(*(model.like(operand).value for operand in (a, b, c))).result)


def select(condition: Number, then: Any, otherwise: Any) -> Number:
    """`then` where the condition holds. At least one of the two is a Number."""
    model = then if isinstance(then, Number) else otherwise
    values = (model.like(then).value, model.like(otherwise).value)
    return Number(dialect("arith").SelectOp(condition.value, *values).result)


def absolute(x: Number) -> Number:
    return Number(dialect("math").AbsFOp(x.value).result)


def floor(x: Number) -> Number:
    return Number(dialect("math").FloorOp(x.value).result)


def square_root(x: Number) -> Number:
    return Number(dialect("math").SqrtOp(x.value).result)


def exp2_fast(x: Number) -> Number:
    """ex2.approx of PTX (a relative error of 2^-22), for f32 where it is subtracted from something larger, or
    rounded to fewer bits."""
    return Number(dialect("math").Exp2Op(x.value, fastmath=ir.Attribute.parse(APPROXIMATE)).result)


def rsqrt_fast(x: Number) -> Number:
    """rsqrt.approx of PTX (a relative error of 2^-22.4), for f32 where it is rounded to fewer bits."""
    return Number(dialect("math").RsqrtOp(x.value, fastmath=ir.Attribute.parse(APPROXIMATE)).result)


def divided_fast(x: Any, y: Number) -> Number:
    """x rcp.approx(y) of PTX (2 ulp; 0 where y is above 2^126), for f32 where it is subtracted from something larger,
    or rounded to fewer bits."""
    return Number(dialect("arith").DivFOp(y.like(x).value, y.value, fastmath=ir.Attribute.parse(APPROXIMATE)).result)


def with_sign(magnitude: Number, sign: Number) -> Number:
    return Number(dialect("math").CopySignOp(magnitude.value, sign.value).result)
