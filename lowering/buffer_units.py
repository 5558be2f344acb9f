"""What buffers in SPIR-V consist of: single numbers, vectors of them, or words that hold several.

SPIR-V for shaders has vectors of up to four numbers. Elements of 8 and 16 bits are packed in words of 32 bits, up to
four of which make a vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.spirv_kernels import as_bits

WORD = 4
"""Bytes of a word."""


def element_bytes(element: Any) -> int:
    """The bytes of an element in a buffer. A truth value takes one."""
    return max(1, element.width // 8)


def whole_bytes(type_: Any) -> int:
    """The bytes of a number or of a vector of numbers."""
    if isinstance(type_, ir.VectorType):
        return type_.shape[0] * element_bytes(type_.element_type)
    return element_bytes(type_)


@dataclass(frozen=True)
class Unit:
    """What a buffer is an array of."""

    element: Any
    """The numbers that it holds: what `as_bits` says of those that accesses see."""
    count: int
    """Numbers in a unit."""

    @staticmethod
    def of(element: Any, size: int) -> Unit:
        """The unit of `size` bytes; of a single number where that is not more than one, or less than a word."""
        element = as_bits(element)
        each = element_bytes(element)
        return Unit(element, size // each if size > each and size >= WORD else 1)

    @property
    def packed(self) -> int:
        """Numbers in a word; 1 where each is a word or more."""
        return max(1, WORD // element_bytes(self.element)) if self.count > 1 else 1

    @property
    def word(self) -> Any:
        """What a unit has one or several of."""
        return ir.IntegerType.get_signless(8 * WORD) if self.packed > 1 else self.element

    @property
    def type(self) -> Any:
        """The type of a unit."""
        words = self.count // self.packed
        return self.word if words == 1 else ir.VectorType.get([words], self.word)

    def place(self, number: Any) -> Any:
        """The number of the unit in which an element is the first, by the element's; both index values."""
        if self.count == 1:
            return number
        return dialect("arith").ShRUIOp(number, constants.index(self.count.bit_length() - 1)).result

    def load(self, buffer: Any, at: Any) -> list[Any]:
        """The numbers of one unit."""
        loaded = dialect("memref").LoadOp(buffer, [at]).result
        words = _taken(loaded, self.word) if self.count > self.packed else [loaded]
        if self.packed == 1:
            return words
        return [number for word in words for number in divided(word, self.element, self.packed)]

    def store(self, numbers: list[Any], buffer: Any, at: Any) -> None:
        """Stores the numbers of one unit."""
        words = numbers
        if self.packed > 1:
            parts = [numbers[first : first + self.packed] for first in range(0, self.count, self.packed)]
            words = [joined(part, self.word) for part in parts]
        whole = _made(self.type, words) if len(words) > 1 else words[0]
        dialect("memref").StoreOp(whole, buffer, [at])


def divided(number: Any, element: Any, count: int) -> list[Any]:
    """The bits of a number as `count` numbers of a narrower type."""
    return _taken(_cast(ir.VectorType.get([count], element), number), element)


def joined(numbers: list[Any], type_: Any) -> Any:
    """The bits of several numbers as one of a wider type."""
    return _cast(type_, _made(ir.VectorType.get([len(numbers)], numbers[0].type), numbers))


def _taken(vector: Any, element: Any) -> list[Any]:
    i32 = ir.IntegerType.get_signless(32)
    places = [ir.ArrayAttr.get([ir.IntegerAttr.get(i32, n)]) for n in range(vector.type.shape[0])]
    return [ir.Operation.create("spirv.CompositeExtract", [element], [vector], {"indices": place}).results[0]
            for place in places]  # fmt: skip


def _made(type_: Any, numbers: list[Any]) -> Any:
    return ir.Operation.create("spirv.CompositeConstruct", [type_], numbers).results[0]


def _cast(type_: Any, value: Any) -> Any:
    return ir.Operation.create("spirv.Bitcast", [type_], [value]).results[0]
