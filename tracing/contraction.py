"""The MLIR of a contraction of one or two operands, whose elementwise functions are written in Python.

It is one linalg.generic for the contraction, whose body is what the functions before the sum, `times` and `plus` do,
and one for what follows it, so that it is compiled as if somebody had written it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.errors import InputError
from mlir_gemm.spec.algebra import NEUTRAL, neutral_number
from mlir_gemm.spec.element_types import TYPES
from mlir_gemm.tracing import numpy_functions as numpy_functions  # which elements find by their names
from mlir_gemm.tracing.element_names import TRUTH, is_complex, is_float, refuse
from mlir_gemm.tracing.scalars import Scalar, Trace, cast_to

Function = Callable[..., Any]


@dataclass(frozen=True)
class Operand:
    """An array that a contraction reads."""

    name: str
    indices: str
    """A letter for each dimension."""
    shape: tuple[int, ...]
    element: str
    """Its element type, by MLIR's name."""
    array: str = ""
    """The name of the operand whose array it is too, where it has none of its own."""
    sparse: bool = False
    """Whether it is a 2:4 sparse matrix, given compressed."""
    index: str = ""
    """Of a matrix that is constant along diagonals which element of a vector [i, j] is."""
    computed: Function | None = None
    """What computes an element from its position, where it has no memory."""

    @property
    def type(self) -> str:
        """What it has in memory, as a tensor."""
        return tensor((self.length,) if self.index else self.shape, self.element)

    @property
    def length(self) -> int:
        """Elements of the vector whose matrix it is."""
        return self.shape[0] if " mod " in self.index else sum(self.shape) - 1

    def map(self, letters: str) -> str:
        """Its indices in memory, of loops by these letters."""
        loops = [f"d{letters.index(letter)}" for letter in self.indices]
        return self.index.format(i=loops[0], j=loops[1]) if self.index else ", ".join(loops)


_SPARSE = ' {tile.sparse = "2:4"}'


@dataclass(frozen=True)
class Contraction:
    """`D[output] = epilogue(plus over all other letters of times(A, B))`."""

    operands: tuple[Operand, ...]
    output: str
    """The letters of the result."""
    extras: tuple[Operand, ...] = ()
    """Other arrays, which functions take by name."""
    init: Operand | None = None
    """What the sum starts from; None for what is neutral to `plus`."""
    plus: Function | None = None
    times: Function | None = None
    prologue: tuple[Function | None, ...] = ()
    mask: Function | None = None
    fill: float | int = 0
    epilogue: Function | None = None
    acc: str = ""
    """The type of the sum; empty for f32, f64, or integers of at least 32 bits, as the operands ask for."""
    out: str = ""
    """The type of the result; empty for that of floating-point operands, else what is computed."""
    algebra: str = ""
    """The attribute that says how elements are multiplied; empty for numbers."""
    component: str = ""
    """The letter of the last dimension of operands and result, that of components; empty for numbers."""
    sizes: Mapping[str, int] = field(init=False, default_factory=dict[str, int])

    def __post_init__(self) -> None:
        sizes: dict[str, int] = {}
        init = [self.init] if self.init is not None else []
        for operand in (*self.operands, *self.extras, *init):
            if len(operand.indices) != len(operand.shape):
                raise InputError(f"{operand.name} has {len(operand.shape)} dimensions and the indices "
                                 f"'{operand.indices}'; expected a letter for each dimension")  # fmt: skip
            if len(set(operand.indices)) != len(operand.indices):
                raise InputError(f"'{operand.indices}' of {operand.name}: expected each letter once; a diagonal is no "
                                 "contraction")  # fmt: skip
            for letter, size in zip(operand.indices, operand.shape, strict=True):
                known = sizes.setdefault(letter, size)
                if known != size:
                    raise InputError(f"'{letter}' has size {known}, and {size} in {operand.name}; expected one size")
        here = set("".join(each.indices for each in self.operands))
        wrong = [each for each in self.output if each not in here or self.output.count(each) > 1]
        if wrong:
            raise InputError(f"'{wrong[0]}' in the result '{self.output}': expected each letter once, of an operand's")
        used = [*(each.indices for each in (*self.extras, *init))]
        for letter in "".join(used):
            if letter not in here:
                letters = ", ".join(sorted(here))
                raise InputError(f"'{letter}' is not an index of any operand; expected letters of {letters}")
        object.__setattr__(self, "sizes", sizes)

    @property
    def inputs(self) -> tuple[Operand, ...]:
        """All arrays, in the order of the module's arguments."""
        own = (each for each in self.operands if not each.array and each.computed is None)
        return (*own, *self.extras, *([self.init] if self.init is not None else []))

    def module(self) -> str:
        """The module, as text. Raises InputError at the line of a function that cannot be traced."""
        return _Writer(self).text()


def tensor(shape: Sequence[int], element: str) -> str:
    """A tensor type."""
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


class _Writer:
    def __init__(self, of: Contraction) -> None:
        self.of = of
        self.reduced = "".join(dict.fromkeys(
            letter for each in of.operands for letter in each.indices if letter not in of.output
        ))  # fmt: skip
        self.shape = [of.sizes[letter] for letter in of.output]
        self.adds_nothing = len(of.operands) == 1 and not self.reduced and of.init is None and of.plus is None
        """Whether each element of the result is one of the only operand's, as in `ij->ji`."""
        self.lines: list[str] = []

    def text(self) -> str:
        of = self.of
        body, acc, neutral = self._combined()
        letters = of.output.removesuffix(of.component) + self.reduced + of.component
        stored = [each for each in of.operands if each.computed is None]
        start = self._empty("%sum_e", acc) if self.adds_nothing else self._start(acc, neutral)
        sum_ = self._generic("%sum", [*stored, *self._named(*of.prologue)], start, acc,
                             letters, body, of.algebra)  # fmt: skip
        result, out = self._finished(sum_, acc)
        arguments = ", ".join(f"%{each.name}: {each.type}{_SPARSE * each.sparse}" for each in of.inputs)
        type_ = tensor(self.shape, out)
        inside = "\n".join(self.lines)
        return f"func.func @einsum({arguments}) -> {type_} {{\n{inside}\n  return {result} : {type_}\n}}\n"

    def _combined(self) -> tuple[list[str], str, float | int | None]:
        """The body of the contraction, the type of its sum, and what is neutral to its plus."""
        of, trace = self.of, Trace()
        values: list[Scalar] = []
        for number, operand in enumerate(of.operands):
            value = self._element(operand, trace)
            before = of.prologue[number] if number < len(of.prologue) else None
            values.append(value if before is None else self._call(before, "prologue", trace, [value]))
        own = self.adds_nothing and not is_float(values[0].type)
        acc = of.acc or (values[0].type if own else sum_type([value.type for value in values]))
        values = [cast_to(value, acc) for value in values]
        if len(values) == 1 and of.times is not None:
            raise InputError("times of one operand; expected two operands, or a prologue")
        if of.times is not None:
            term = self._call(of.times, "times", trace, values)
        else:
            term = values[0] if len(values) == 1 else values[0] * values[1]
        if self.adds_nothing:
            return [*trace.lines, f"linalg.yield {term.name} : {acc}"], acc, None
        so_far = Scalar(trace, "%c_", acc)
        combined = so_far + cast_to(term, acc) if of.plus is None else self._call(
            of.plus, "plus", trace, [so_far, cast_to(term, acc)]
        )  # fmt: skip
        combined = cast_to(combined, acc)
        neutral = _neutral(trace, combined, so_far)
        return [*trace.lines, f"linalg.yield {combined.name} : {acc}"], acc, neutral

    def _element(self, operand: Operand, trace: Trace) -> Scalar:
        """An element of an operand, in the contraction's body."""
        if operand.computed is None:
            return Scalar(trace, f"%{operand.name}_", operand.element)
        here = self.of.output + self.reduced
        places = [trace.emit(f"linalg.index {here.index(each)}", "index", "i64") for each in operand.indices]
        places = [trace.emit(f"arith.index_cast {each.name}", "index to i64", "i64") for each in places]
        found = operand.computed(*places)
        if isinstance(found, (int, float, bool)):
            found = trace.constant(found, operand.element)
        if not isinstance(found, Scalar) or found.trace is not trace:
            raise InputError(f"what computes {operand.name} gives a {type(found).__name__}; expected an element")
        return cast_to(found, operand.element)

    def _start(self, acc: str, neutral: float | int | None) -> str:
        of = self.of
        if of.init is not None:
            if of.init.indices != of.output:
                raise InputError(f"init has the indices '{of.init.indices}'; expected the result's, '{of.output}'")
            if of.init.element == acc:
                return f"%{of.init.name}"
            cast = Trace()
            wide = cast_to(Scalar(cast, f"%{of.init.name}_", of.init.element), acc)
            empty = self._empty("%start_e", acc)
            body = [*cast.lines, f"linalg.yield {wide.name} : {acc}"]
            return self._generic("%start", [of.init], empty, acc, of.output, body)
        if neutral is None:
            raise InputError("plus is not one of the operations whose neutral element is known (sums, products, "
                             "minima, maxima, and, or, xor); give init, what the sum starts from")  # fmt: skip
        first = Trace()
        number = first.constant(neutral, acc)
        self.lines += [f"  {line}" for line in first.lines]
        self.lines[-1] = self.lines[-1].replace(number.name, "%neutral", 1)
        empty = self._empty("%sum_e", acc)
        type_ = tensor(self.shape, acc)
        self.lines.append(f"  %init_ = linalg.fill ins(%neutral : {acc}) outs({empty} : {type_}) -> {type_}")
        return "%init_"

    def _finished(self, sum_: str, acc: str) -> tuple[str, str]:
        """What follows the sum: the value of the result, and its type."""
        of, trace = self.of, Trace()
        value = Scalar(trace, "%sum_", acc)
        if of.mask is not None:
            there = self._call(of.mask, "mask", trace, [])
            if there.type != TRUTH:
                refuse(f"mask gives {there.type}; expected a truth value, from comparisons")
            other = trace.constant(of.fill, acc)
            value = trace.emit(f"arith.select {there.name}, {value.name}, {other.name}", acc, acc)
        if of.epilogue is not None:
            value = self._call(of.epilogue, "epilogue", trace, [value])
        out = of.out or self._result_type(value.type)
        if is_float(value.type) and not is_float(out):
            raise InputError(f"the result is of {value.type}, and {out} is asked for; round it in the epilogue: "
                             f"x.astype('{out}')")  # fmt: skip
        value = cast_to(value, out)
        if not trace.lines:
            return sum_, out
        operand = Operand("sum", of.output, tuple(self.shape), acc)
        given = [operand, *self._named(of.mask, of.epilogue)]
        return self._generic("%result", given, self._empty("%result_e", out), out, of.output,
                             [*trace.lines, f"linalg.yield {value.name} : {out}"]), out  # fmt: skip

    def _result_type(self, computed: str) -> str:
        if computed == TRUTH:
            raise InputError("the result is a truth value; say in which type: x.astype('i8')")
        if is_complex(computed) or any(is_complex(each.element) for each in self.of.operands):
            return computed
        floats = [each.element for each in self.of.operands if is_float(each.element)]
        if is_float(computed) and len(floats) == len(self.of.operands):
            return max(floats, key=lambda name: TYPES[name].bytes)
        return computed

    def _named(self, *functions: Function | None) -> list[Operand]:
        """The extra arrays that some functions take."""
        names = {name for each in functions if each is not None for name in parameters(each)}
        return [each for each in self.of.extras if each.name in names]

    def _call(self, function: Function, what: str, trace: Trace, values: list[Scalar]) -> Scalar:
        """What a function makes of some elements, and of the positions and extra arrays that it names."""
        of, names = self.of, parameters(function)
        if len(names) < len(values):
            taken = f"{len(values)} element{'s' if len(values) > 1 else ''}"
            raise InputError(f"{what} takes {len(names)} arguments; expected {taken} first")
        here = of.output if what in ("mask", "epilogue") else of.output + self.reduced
        extras = {each.name: each for each in of.extras}
        given = list(values)
        for name in names[len(values) :]:
            if name in extras and what not in ("plus", "times"):
                wrong = [letter for letter in extras[name].indices if letter not in here]
                if wrong:
                    raise InputError(f"{what} takes '{name}', which has the index '{wrong[0]}' that is summed up")
                given.append(Scalar(trace, f"%{name}_", extras[name].element))
            elif name in here and len(name) == 1:
                index = trace.emit(f"linalg.index {here.index(name)}", "index", "i64")
                given.append(trace.emit(f"arith.index_cast {index.name}", "index to i64", "i64"))
            else:
                known = ", ".join([*here, *(extras if what not in ("plus", "times") else ())])
                raise InputError(f"{what} has an argument '{name}', which is no index or array here; expected {known}")
        found = function(*given)
        if isinstance(found, (int, float, bool)):
            found = trace.constant(found, values[0].type if values else TRUTH)
        if not isinstance(found, Scalar) or found.trace is not trace:
            raise InputError(f"{what} gives a {type(found).__name__}; expected an element")
        return found

    def _empty(self, name: str, element: str) -> str:
        self.lines.append(f"  {name} = tensor.empty() : {tensor(self.shape, element)}")
        return name

    def _generic(
        self, name: str, inputs: Sequence[Operand], start: str, element: str, letters: str, body: Sequence[str],
        algebra: str = "",
    ) -> str:  # fmt: skip
        loops = ", ".join(f"d{number}" for number in range(len(letters)))
        result = Operand("", self.of.output, tuple(self.shape), element)
        maps = ", ".join(f"affine_map<({loops}) -> ({each.map(letters)})>" for each in [*inputs, result])
        kinds = ", ".join('"parallel"' if letter in self.of.output else '"reduction"' for letter in letters)
        values = ", ".join(f"%{each.array or each.name}" for each in inputs)
        types = ", ".join(each.type for each in inputs)
        arguments = ", ".join([*(f"%{each.name}_: {each.element}" for each in inputs), f"%c_: {element}"])
        type_ = tensor(self.shape, element)
        marked = f", tile.algebra = {algebra}" if algebra else ""
        self.lines += [
            f"  {name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]{marked}}}",
            f"      ins({values} : {types}) outs({start} : {type_}) {{",
            f"    ^bb0({arguments}):",
            *(f"      {line}" for line in body),
            f"  }} -> {type_}",
        ]
        return name


def _neutral(trace: Trace, combined: Scalar, so_far: Scalar) -> float | int | None:
    """What changes nothing in `operation(so far, term)`, where that is what was traced and such an element is known."""
    last = next((line for line in trace.lines if line.startswith(f"{combined.name} =")), "")
    operation = last.split()[2] if last else ""
    once = sum(line.replace(",", " ").split().count(so_far.name) for line in trace.lines) == 1
    if is_complex(combined.type):
        return 0.0 if operation == "complex.add" and once else None
    words = last.replace(",", " ").split()
    if operation in ("arith.minsi", "arith.minui") and once and so_far.name not in words:
        # A sum that saturates: the limit of what was added.
        made = [line for line in trace.lines if line.split()[0] in words[3:]]
        inner = next((line for line in made if so_far.name in line.replace(",", " ").split()), "")
        return 0 if inner.split()[2:3] == ["arith.addi"] else None
    plain = operation in NEUTRAL and once and so_far.name in words
    return neutral_number(operation, combined.type) if plain else None


def parameters(function: Function) -> list[str]:
    """The names of a function's arguments that have no default. Raises InputError where it has none to be known."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ["a", "b"]  # a ufunc of NumPy's
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [each.name for each in found if each.kind in kinds and each.default is inspect.Parameter.empty]


def sum_type(elements: Sequence[str]) -> str:
    """The type in which products of such elements are added up."""
    complex_ = [each for each in elements if is_complex(each)]
    if complex_:
        return complex_[0]
    if any(is_float(each) for each in elements):
        return "f64" if "f64" in elements else "f32"
    return "i64" if "i64" in elements else "i32"
