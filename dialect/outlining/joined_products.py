"""Kernels of a program that multiply the same A by different matrices B: which can be one kernel, and that kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of, clone
from mlir_gemm.dialect.linalg import products, structured
from mlir_gemm.dialect.linalg.products import Product
from mlir_gemm.dialect.outlining import cuts, kernel_modules, programs
from mlir_gemm.dialect.outlining.kernel_functions import new_function
from mlir_gemm.dialect.outlining.side_by_side import Uses
from mlir_gemm.dialect.walk import body, in_block, users
from mlir_gemm.spec.attributes import DIVISORS, HINTS, NOTE, ROLE, SCHEDULE, SYMBOLS

_PLAIN = ("memref.alloc", "memref.dim", "linalg.fill", "func.return")
_OF_FUNCTIONS = ("arg_attrs", "sym_name", "function_type", SCHEDULE, HINTS, DIVISORS)
_OF_ARGUMENTS = (ROLE, SYMBOLS)


@dataclass(frozen=True)
class Member:
    """A kernel with one product of two operands as they lie in memory, and elementwise work after it."""

    name: str
    module: Any
    function: Any
    run: Any
    product: Product
    uses: Uses

    @property
    def buffers(self) -> list[Any]:
        """The program's buffers, in the order of the function's arguments."""
        return programs.buffers_of(self.run)

    def given(self) -> list[tuple[Any, Any, dict[str, Any]]]:
        """Each argument with its buffer and its attributes."""
        return list(zip(body(self.function).arguments, self.buffers, argument_attributes(self.function), strict=True))

    def argument_of(self, buffer: Any) -> Any:
        """The argument that is a buffer."""
        return next(argument for argument, each, _ in self.given() if each == buffer)

    def buffer_of_a(self) -> Any:
        """The buffer of A."""
        return next(buffer for argument, buffer, _ in self.given() if argument == self.product.generic.inputs[0])

    def parts(self) -> tuple[list[Any], list[Any]]:
        """The operations in front of the product, and those after it."""
        inside = [op.operation for op in in_block(body(self.function))][:-1]
        place = inside.index(self.product.op.operation)
        return inside[:place], inside[place + 1 :]


def groups_of(module: Any) -> list[list[Member]]:
    """Kernels that multiply the same A in the same loops, in the order in which they run; each in one list at most."""
    modules = programs.kernel_modules(module)
    runs = programs.runs_of(programs.function_of(module)) if modules else []
    names = [programs.kernel_of(run) for run in runs]
    found: list[list[Member]] = []
    for run, name in zip(runs, names, strict=True):
        member = _member(run, modules) if name in modules and names.count(name) == 1 else None
        if member is None:
            continue
        for group in found:
            first = group[0]
            if first.buffer_of_a() == member.buffer_of_a() and products.same_form(first.product, member.product):
                group.append(member)
                break
        else:
            found.append([member])
    return [group for group in found if len(group) > 1]


def _member(run: Any, modules: dict[str, Any]) -> Member | None:
    module = modules[programs.kernel_of(run)]
    function = programs.function_of(module)
    of_functions = all(name in _OF_FUNCTIONS for name in attributes_of(function))
    if not of_functions or len(body(function).arguments) != len(programs.buffers_of(run)):
        return None
    found = products.the_products(function)
    if len(found) != 1 or found[0].is_pointwise or not products.is_single(found[0]):
        return None
    member = Member(programs.kernel_of(run), module, function, run, found[0], Uses.of(run, modules))
    known = all(name in _OF_ARGUMENTS for _, _, marks in member.given() for name in marks)
    arguments = [argument for argument, _, _ in member.given()]
    return member if known and found[0].generic.inputs[0] in arguments and _is_plain(member) else None


def _is_plain(member: Member) -> bool:
    """Whether nothing but constants stands in front of the product, of which one fills its result with zero, and
    nothing but elementwise work after it."""
    ahead, behind = member.parts()
    names = [op.name for op in (*ahead, *behind) if not structured.is_generic(op)]
    fills = [op for op in ahead if op.name == "linalg.fill" and op.operands[1] == member.product.accumulator]
    zero = len(fills) == 1 and _is_zero(fills[0].operands[0])
    return (
        zero
        and all(name in _PLAIN or name.startswith("arith.") for name in names)
        and not any(structured.is_generic(op) for op in ahead)
        and all(structured.read(op).elementwise and not structured.is_free(op) for op in behind
                if structured.is_generic(op))
    )  # fmt: skip


def _is_zero(value: Any) -> bool:
    constant = getattr(value.owner, "name", "") == "arith.constant"
    return constant and getattr(value.owner.attributes["value"], "value", None) == 0


def why_apart(module: Any, members: Sequence[Member]) -> str:
    """Why kernels of one group cannot be one; empty where they can."""
    for number, later in enumerate(members):
        for earlier in members[:number]:
            between = later.uses.read & earlier.uses.written
            if later.uses.written & (earlier.uses.read | earlier.uses.written):
                return f"'{later.name}' writes what '{earlier.name}' reads or writes"
            if not all(_at_its_own_place(earlier, later, buffer) for buffer in between):
                return f"'{later.name}' reads other elements of what '{earlier.name}' writes than its own"
    return "" if _place(module, members) is not None else "kernels between them wait for one, and another for those"


def _at_its_own_place(earlier: Member, later: Member, buffer: Any) -> bool:
    """Whether one kernel reads of a buffer just those elements at which the other has its own, which has written
    them."""
    written, read = earlier.argument_of(buffer), later.argument_of(buffer)
    if written.type != read.type or earlier.buffers.count(buffer) != 1 or later.buffers.count(buffer) != 1:
        return False
    return all(_runs_with_the_result(member.product, argument)
               for member, argument in ((earlier, written), (later, read)))  # fmt: skip


def _runs_with_the_result(product: Product, memory: Any) -> bool:
    """Whether all that touches a memref has an element of it at each element of a product's result, in its order."""
    parallel = len(product.generic.parallel) - 1
    for user in users(memory):
        if memory == product.accumulator and (user == product.op.operation or user.name == "linalg.fill"):
            continue
        if not structured.is_generic(user) or not structured.read(user).elementwise:
            return False
        generic = structured.read(user)
        maps = [map_ for operand, map_ in zip(generic.operands, generic.maps, strict=True) if operand == memory]
        if len(generic.parallel) != parallel or any(map_ != ir.AffineMap.get_identity(parallel) for map_ in maps):
            return False
    return list(product.accumulator.type.shape) == list(memory.type.shape) and _in_order(product)


def _in_order(product: Product) -> bool:
    """Whether a product's result has the dimensions of its loops, in order."""
    loops = [getattr(each, "position", -1) for each in product.generic.maps[-1].results]
    return loops == list(range(len(product.generic.parallel) - 1))


def _place(module: Any, members: Sequence[Member]) -> Any | None:
    """The tile.run, one of theirs, at which all can run at once."""
    modules = programs.kernel_modules(module)
    runs = programs.runs_of(programs.function_of(module))
    numbers = [next(n for n, run in enumerate(runs) if run.operation == each.run.operation) for each in members]
    others = {n: Uses.of(run, modules) for n, run in enumerate(runs) if n not in numbers}
    for place in (numbers[-1], numbers[0]):
        crossed = [(each, uses) for each, number in zip(members, numbers, strict=True) for other, uses in others.items()
                   if min(place, number) < other < max(place, number)]  # fmt: skip
        if not any(each.uses.waits(uses) for each, uses in crossed):
            return runs[place]
    return None


def join(module: Any, members: Sequence[Member]) -> str:
    """Makes one kernel of several that can be one; its name, which is that of the first."""
    place = _place(module, members)
    assert place is not None  # `why_apart` has been asked
    first = members[0]
    gone = [each.name for each in members[1:]]
    buffers = _write(module, members)
    for buffer in buffers:
        programs.move_before(buffer, place.operation)
    with ir.InsertionPoint(place), place.operation.location:
        programs.run(first.name, buffers)
    inside = [buffer for each in members for buffer in each.buffers if buffer not in buffers]
    for each in members:
        programs.drop(each.run)
    for buffer in dict.fromkeys(inside):
        if not any(True for _ in buffer.uses):
            buffer.owner.erase()
    _follow(module, members, gone)
    return first.name


def _follow(module: Any, members: Sequence[Member], gone: list[str]) -> None:
    """Lets what is said of kernels that are gone be said of the first."""
    first = members[0]
    for each in members[1:]:
        attributes = each.module.operation.attributes
        if NOTE in attributes:
            kernel_modules.add_note(first.module, ir.StringAttr(attributes[NOTE]).value)
        cuts.write(first.module, {**cuts.read(each.module), **cuts.read(first.module)})
        each.module.operation.erase()
    for each in programs.kernel_modules(module).values():
        reasons = cuts.read(each)
        joined = [reasons.pop(name) for name in (first.name, *gone) if name in reasons]
        if joined and each.operation != first.module.operation:
            reasons[first.name] = joined[0]
        cuts.write(each, reasons)


def _write(module: Any, members: Sequence[Member]) -> list[Any]:
    """Writes the kernel in the first one's place; the buffers that it takes."""
    first = members[0]
    inner = inner_buffers(module, members)
    given: dict[tuple[Any, str], tuple[Any, dict[str, Any]]] = {}
    for each in members:
        for argument, buffer, marks in each.given():
            key = buffer, str(argument.type)
            role = marks.get(ROLE)
            if buffer in inner or (key in given and given[key][1].get(ROLE) != role and _is_in(marks)):
                continue  # what one of them writes, and a later one reads
            given[key] = argument, marks
    order = sorted(given, key=lambda key: not _is_in(given[key][1]))
    old = first.function
    with old.location:
        name = ir.StringAttr(old.attributes["sym_name"]).value
        types = [given[key][0].type for key in order]
        function, block = new_function(name, types, ir.InsertionPoint(old))
        set_argument_attributes(function, [given[key][1] for key in order])
        for key, attribute in attributes_of(old).items():
            if key in (SCHEDULE, HINTS, DIVISORS):
                function.attributes[key] = attribute
        arguments = dict(zip(order, block.arguments, strict=True))
        with ir.InsertionPoint(block):
            _write_body(members, arguments, inner)
            dialect("func").ReturnOp([])
    buffers = [buffer for buffer, _ in order]
    old.operation.erase()
    return buffers


def _write_body(members: Sequence[Member], arguments: dict[tuple[Any, str], Any], inner: set[Any]) -> None:
    """The fills, the products and then the elementwise work of all, at the insertion point."""
    made: dict[Any, Any] = {}
    known: list[dict[Any, Any]] = []
    for each in members:
        values: dict[Any, Any] = {}
        known.append(values)
        for argument, buffer, _ in each.given():
            if buffer not in inner:
                values[argument] = arguments[buffer, str(argument.type)]
        rooms = [(argument, buffer) for argument, buffer, marks in each.given()
                 if buffer in inner and not _is_in(marks)]  # fmt: skip
        for argument, buffer in rooms:
            if argument.type.has_static_shape:
                values[argument] = made[buffer] = dialect("memref").AllocOp(argument.type, [], []).result
        for op in each.parts()[0]:
            clone(op, values)
        for argument, buffer in rooms:
            if buffer not in made:
                made[buffer] = _room(argument.type, each.product.accumulator, values)
        values.update((argument, made[buffer]) for argument, buffer, _ in each.given() if buffer in made)
    for each, values in zip(members, known, strict=True):
        clone(each.product.op, values)
    for each, values in zip(members, known, strict=True):
        for op in each.parts()[1]:
            clone(op, values)


def _room(type_: Any, like: Any, values: dict[Any, Any]) -> Any:
    """Memory of a kernel's own, of the sizes of other memory, for which `values` are used."""
    owner = like.owner.operation
    sizes = [values.get(size, size) for size in owner.operands]
    alloc = dialect("memref").AllocOp(type_, sizes, [])
    if SYMBOLS in owner.attributes:
        alloc.operation.attributes[SYMBOLS] = owner.attributes[SYMBOLS]
    return alloc.result


def inner_buffers(module: Any, members: Sequence[Member]) -> set[Any]:
    """The buffers that nothing but these kernels touches: one of them writes it, and others read it."""
    found: set[Any] = set()
    runs = programs.runs_of(programs.function_of(module))
    own = [each.run.operation for each in members]
    for each in members:
        sized = getattr(each.product.accumulator.owner, "name", "") == "memref.alloc"
        for buffer in each.uses.written:
            if not (sized or buffer.type.has_static_shape):
                continue
            outside = any(buffer in programs.buffers_of(run) for run in runs if run.operation not in own)
            read = any(buffer in other.uses.read for other in members)
            if read and not outside and getattr(buffer.owner, "name", "") == "memref.alloc":
                found.add(buffer)
    return found


def _is_in(marks: dict[str, Any]) -> bool:
    return ROLE in marks and ir.StringAttr(marks[ROLE]).value == "in"
