"""expand-complex: complex numbers become pairs of real ones, along a last dimension of 2.

Expects one function with linalg.generic, linalg.fill, reshapes and slices (after linalg-generalize-named-ops and
`raise-to-tensors`), some on tensors of `complex<T>`. Leaves tensors of T with one dimension more, as their elements lie
in memory; arguments that were complex have `tile.complex`. A product becomes one of elements of two components with
`tile.algebra`, the constants of complex numbers, which `expand-algebras` takes further; conjugates of operands are
signs of the constants. Three multiplications (Gauss) are allowed where they are nearly as exact; `tile.algebra =
{algorithm = "fewest"}` on a product allows them anywhere, `{algorithm = "schoolbook"}` nowhere. Any other operation
computes both parts from those of what it reads. A second run changes nothing.

Refuses functions of complex numbers other than sums, differences, products, quotients, negation, conj, abs, re, im,
create, eq, neq and constants, reductions other than sums of terms, and complex memrefs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from mlir_gemm.dialect import complex_linear, complex_numbers
from mlir_gemm.dialect.algebra_marks import asked_algorithm, mark
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.complex_numbers import Pair, is_complex
from mlir_gemm.dialect.complex_tensors import PARTS, alike, drop_broadcast_dims, filled, is_fill, part, real_type
from mlir_gemm.dialect.linalg import component_products, components, generics, structured
from mlir_gemm.dialect.linalg.components import component
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.walk import body, in_block, named, operations
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import ALGEBRA, COMPLEX
from mlir_gemm.spec.bilinear import SCHOOLBOOK, Number, signed, with_signs
from mlir_gemm.spec.bilinear import named as algebra_named

_ALIKE = ("tensor.empty", "tensor.collapse_shape", "tensor.expand_shape", "tensor.extract_slice")
_SIGNS = {"complex.conj": (1, -1), "complex.neg": (-1, -1)}


@dataclass(frozen=True)
class ExpandComplex(Pass):
    """Compute with complex numbers as with pairs of real ones."""

    name: ClassVar[str] = "expand-complex"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if len(function.regions[0].blocks) and _has_complex(function):
                _Rewriter(function).run()


def _has_complex(function: Any) -> bool:
    values = [value for op in in_block(body(function)) for value in [*op.operation.operands, *op.operation.results]]
    inside = (result for op in operations(function) for result in op.operation.results)
    return any(is_complex(value.type) for value in [*body(function).arguments, *values, *inside])


@dataclass
class _Rewriter:
    function: Any
    values: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """What stands for each value of the function that is, or was computed from, a complex tensor."""

    def run(self) -> None:
        """Rewrites the function in place."""
        block = body(self.function)
        for argument in block.arguments:
            if isinstance(argument.type, ir.MemRefType) and is_complex(argument.type):
                raise input_error(self.function, f"argument {argument.arg_number} has type {argument.type}; expected "
                                  "complex tensors, or memrefs of real numbers with a last dimension of 2")  # fmt: skip
        for generic in named(self.function, "linalg.generic"):
            drop_broadcast_dims(generic.operation)
        old = in_block(block)
        marked = [argument.arg_number for argument in block.arguments if is_complex(argument.type)]
        results = [is_complex(value.type) for value in old[-1].operation.operands]
        given = list(block.arguments)
        for argument in given:  # those that are there stay until nothing needs their types
            new = block.add_argument(real_type(argument.type), argument.location)
            if is_complex(argument.type):
                self.values[argument] = new
            else:
                argument.replace_all_uses_with(new)
        for operation in old:
            with ir.InsertionPoint(operation), operation.location:
                self._rewrite(operation.operation)
        for operation in reversed(old):
            if operation.operation.name != "func.return" and any(r in self.values for r in operation.operation.results):
                operation.operation.erase()
        for _ in given:
            block.erase_argument(0)
        self._write_type(marked, results)

    def _write_type(self, marked: list[int], results: list[bool]) -> None:
        block = body(self.function)
        returned = [value.type for value in in_block(block)[-1].operation.operands]
        type_ = ir.FunctionType.get([argument.type for argument in block.arguments], returned)
        attributes = self.function.attributes
        attributes["function_type"] = ir.TypeAttr.get(type_)
        of_results = [number for number, each in enumerate(results) if each]
        sides = (("arg_attrs", len(block.arguments), marked), ("res_attrs", len(returned), of_results))
        for name, count, which in sides:
            if not which:
                continue
            given = list(attributes[name]) if name in attributes else [ir.DictAttr.get({})] * count
            for number in which:
                known = {each.name: each.attr for each in given[number]}
                given[number] = ir.DictAttr.get({**known, COMPLEX: ir.UnitAttr.get()})
            attributes[name] = ir.ArrayAttr.get(given)

    def _new(self, value: Any) -> Any:
        return self.values.get(value, value)

    def _rewrite(self, op: Any) -> None:
        touched = [value for value in [*op.operands, *op.results] if value in self.values or is_complex(value.type)]
        if op.name == "func.return":
            for number, value in enumerate(op.operands):
                op.operands[number] = self._new(value)
        elif not touched and not (op.name == "linalg.generic" and _computes_complex(op)):
            return
        elif op.name == "linalg.fill" or is_fill(op):
            self.values[op.results[0]] = filled(op, self._new(op.operands[1]))
        elif op.name == "linalg.generic":
            new = _GenericRewriter(self._new, structured.read(op)).build()
            for old, made in zip(op.results, new, strict=True):
                self.values[old] = made
                if not is_complex(old.type):
                    old.replace_all_uses_with(made)
        elif op.name in _ALIKE:
            self.values[op.results[0]] = alike(op, [self._new(value) for value in op.operands])
        elif op.name in ("complex.constant", "complex.create"):
            return  # read where it is used
        else:
            known = "linalg.generic, linalg.fill, tensor.empty, reshapes and slices"
            raise input_error(op, f"'{op.name}' on complex numbers; expected {known}")


def _computes_complex(op: Any) -> bool:
    return any(is_complex(value.type) for inner in operations(op) for value in inner.operation.results)


@dataclass
class _GenericRewriter:
    new: Callable[[Any], Any]
    generic: Generic

    def build(self) -> list[Any]:
        """The real operation, or two of them; the results."""
        generic = self.generic
        for map_ in generic.maps:
            if not map_.is_projected_permutation:
                raise input_error(generic.op, f"complex numbers through indexing map {map_}; expected whole loops")
        factors = complex_numbers.product_of(generic)
        if factors is not None:
            return [self._product(*factors)]
        followed = self._followed()
        return self._parts() if followed is None else [followed]

    def _loops(self) -> int:
        return len(self.generic.parallel)

    def _map(self, number: int, loops: int, *more: int) -> Any:
        """The map of an operand in more loops, with `more` of these at its end."""
        old = [ir.AffineExpr.get_dim(each.position) for each in self.generic.maps[number].results]
        return ir.AffineMap.get(loops, 0, [*old, *(ir.AffineExpr.get_dim(loop) for loop in more)])

    def _read(self, number: int) -> list[Any]:
        """The tensors from which an operand is read: that of its real and that of its imaginary parts, or itself."""
        value = self.generic.operands[number]
        if isinstance(value.type, ir.ComplexType):
            pair = complex_numbers.constant_of(value)
            if pair is None:
                raise input_error(self.generic.op, "a complex number that is no constant; expected complex.constant")
            return [each.build() for each in pair]
        new = self.new(value)
        if not is_complex(value.type):
            return [new]
        return [component(new, {new.type.rank - 1: part}) for part in range(PARTS)]

    def _followed(self) -> Any | None:
        """An operation that is linear in a complex value computed before: each part of the result from one part of that
        value, so that it is an epilogue of its product. What brings both parts together, such as a complex factor, goes
        into the product's constants where that rounds nothing more."""
        generic = self.generic
        output = generic.body.arguments[len(generic.inputs)]
        if not generic.elementwise or len(generic.outputs) != 1 or list(output.uses):
            return None
        number = self._computed_before()
        if number is None or not is_complex(generic.outputs[0].type):
            return None
        source, value = generic.body.arguments[number], generic.yielded[0]
        parts = complex_linear.matrix_of(value, source, generic)
        if parts is None:
            return None
        read = self.new(generic.operands[number])
        added = self._added(source, self._positions(number)[-1])
        if added is None or not (complex_linear.is_scale(parts) or component_products.scale(read, parts)):
            return None
        return self._beside(number, read, parts[0][0] if complex_linear.is_scale(parts) else 1, added)

    def _computed_before(self) -> int | None:
        """The input that an operation computes for this one alone, each element once."""
        generic, loops = self.generic, self._loops()
        for number, value in enumerate(generic.inputs):
            owner = generics.owner_of(value)
            once = len(list(value.uses)) == 1 and len(self._positions(number)) == loops
            if once and is_complex(value.type) and owner is not None and owner.name == "linalg.generic":
                return number
        return None

    def _added(self, source: Any, last: int) -> list[tuple[Any, list[int], Number]] | None:
        """What is added to the value computed before: at most one tensor, the loops along its dimensions, and its sign.
        An operand as it lies, or what is computed in front where that is smaller than the result; None for others."""
        generic, loops = self.generic, self._loops()
        value = generic.yielded[0]
        operands = complex_numbers.operands_of(value, generic)
        rest = complex_linear.plain_rest(value, source)
        arguments = list(generic.body.arguments)
        if rest is not None and rest[0] in arguments and is_complex(rest[0].type):
            number = arguments.index(rest[0])
            if isinstance(generic.operands[number].type, ir.RankedTensorType):
                return [(self.new(generic.operands[number]), [*self._positions(number), loops], rest[1])]
        operands = [number for number in operands if arguments[number] != source]
        if value == source or (not operands and not complex_linear.has_rest(value, source)):
            return []
        order = sorted({last, *(each for number in operands for each in self._positions(number))})
        if len(order) == loops:
            return None

        def made(values: dict[Any, Any]) -> Any:
            return complex_linear.rest_of(value, source, generic, values)

        return [(self._computed(value, operands, order, made), [*order, loops], 1)]

    def _beside(self, number: int, read: Any, by: Number, added: list[tuple[Any, list[int], Number]]) -> Any:
        """A value computed before times a number, and what is added to it."""
        loops = self._loops()
        given = [(read, [*self._positions(number), loops], by), *added]
        output = self.new(self.generic.outputs[0])
        maps = [components.loops_map(axes, loops + 1) for _, axes, _ in given]
        maps.append(self._map(len(self.generic.inputs), loops + 1, loops))
        made, block = structured.make([each for each, _, _ in given], [output], maps, [True] * (loops + 1))
        with ir.InsertionPoint(block):
            terms = [(value, scale) for value, (_, _, scale) in zip(block.arguments, given, strict=False) if scale]
            structured.yield_([components.weighted(terms, output.type.element_type)])
        return made.results[0]

    def _parts(self) -> list[Any]:
        """An elementwise operation, or a sum: each of two steps computes both parts, and keeps one."""
        generic, loops = self.generic, self._loops()
        inputs: list[Any] = []
        maps: list[Any] = []
        count = len(generic.inputs)
        for number in range(count):
            read = self._read(number)
            inputs += read
            maps += [self._map(number, loops + 1)] * len(read)
        outputs = [self.new(value) for value in generic.outputs]
        complex_ = [is_complex(value.type) for value in generic.outputs]
        if any(not each for each in complex_) and any(complex_):
            raise input_error(generic.op, "complex and real results of one operation; expected one kind")
        whole = complex_[0]
        if not whole:
            maps = [ir.AffineMap.get(loops, 0, list(map_.results)) for map_ in maps]
        maps += [self._map(count + n, loops + whole, *([loops] if whole else [])) for n in range(len(outputs))]
        made, block = structured.make(inputs, outputs, maps, [*generic.parallel, *([True] if whole else [])])
        with ir.InsertionPoint(block):
            given = list(block.arguments)
            values: dict[Any, Any] = {}
            for number, argument in enumerate(generic.body.arguments):
                if number >= count:
                    values[argument] = given.pop(0)  # of a complex result, one part
                elif is_complex(argument.type):
                    values[argument] = Pair(given.pop(0), given.pop(0))
                else:
                    values[argument] = given.pop(0)
            results = (
                self._yielded(values, loops) if whole else complex_numbers.evaluate(generic.yielded, generic, values)
            )
            structured.yield_(results)
        return list(made.results)

    def _yielded(self, values: dict[Any, Any], loop: int) -> list[Any]:
        generic = self.generic
        found: list[Any] = []
        for number, value in enumerate(generic.yielded):
            output = generic.body.arguments[len(generic.inputs) + number]
            if generic.elementwise and not list(output.uses):
                found.append(part(loop, complex_numbers.evaluate([value], generic, values)[0]))
                continue
            term = complex_numbers.added_to(output, value)
            if term is None:
                raise input_error(generic.op, "a reduction of complex numbers that is no sum; expected complex.add of "
                                  "what there is so far and a term")  # fmt: skip
            pair = complex_numbers.evaluate([term], generic, values)[0]
            found.append(dialect("arith").AddFOp(values[output], part(loop, pair)).result)
        return found

    def _product(self, left: Any, right: Any) -> Any:
        """A product of elements of two components, which `expand-algebras` takes further."""
        generic, loops = self.generic, self._loops()
        count = len(generic.inputs)
        factors = [self._factor(value) for value in (left, right)]
        algebra, signs = algebra_named("complex"), [each for _, _, each in factors]
        table = with_signs(algebra.table, signs)
        algorithm = asked_algorithm(generic.op)
        steps = algebra.steps if algorithm != SCHOOLBOOK else None
        steps = steps and signed(steps, signs)
        output = self.new(generic.outputs[0])
        result = [each.position for each in generic.maps[count].results]
        sides = [(value, [*where, loops]) for value, where, _ in factors]
        made = components.product(sides[0], sides[1], (output, [*result, loops]), [*generic.parallel, True])
        made.owner.attributes[ALGEBRA] = mark(table, steps, algorithm)
        return made

    def _factor(self, value: Any) -> tuple[Any, list[int], tuple[int, int]]:
        """The tensor of a factor, the loops along its dimensions, and the signs of its parts: an operand as it lies
        where it is one or a conjugate of one, else computed in front."""
        generic = self.generic
        arguments, signs, found = list(generic.body.arguments), (1, 1), value
        while found not in arguments and found.owner.operation.name in _SIGNS:
            re, im = _SIGNS[found.owner.operation.name]
            signs, found = (signs[0] * re, signs[1] * im), found.owner.operation.operands[0]
        if found in arguments:
            number = arguments.index(found)
            return self.new(generic.operands[number]), self._positions(number), signs
        operands = complex_numbers.operands_of(value, generic)
        order = sorted({each for number in operands for each in self._positions(number)})
        return self._computed(value, operands, order), order, (1, 1)

    def _positions(self, number: int) -> list[int]:
        return [each.position for each in self.generic.maps[number].results]

    def _computed(
        self, value: Any, operands: list[int], order: list[int], made: Callable[[dict[Any, Any]], Any] | None = None
    ) -> Any:
        """A tensor computed from operands, with these loops of the operation and one of the parts after them: of a
        value of the body, or what `made` makes of the operands' elements."""
        generic = self.generic
        sizes = structured.sizes_of(generic)
        inputs: list[Any] = []
        for number in operands:
            places = [order.index(each) for each in self._positions(number)]
            inputs += [(read, places) for read in self._read(number)]

        def build(given: list[Any]) -> Any:
            given = list(given)
            values: dict[Any, Any] = {}
            for number in operands:
                argument = generic.body.arguments[number]
                values[argument] = Pair(given.pop(0), given.pop(0)) if is_complex(argument.type) else given.pop(0)
            found = complex_numbers.evaluate([value], generic, values)[0] if made is None else made(values)
            return part(len(order), found)

        shape = [*(sizes[loop] for loop in order), PARTS]
        return components.computed(inputs, shape, ir.ComplexType(value.type).element_type, build)
