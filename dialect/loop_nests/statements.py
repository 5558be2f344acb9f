"""What loops compute: one statement for each store and each reduction, with what it reads, in the order of the text.

A statement runs in all of the loops around it. Its value is a tree of arithmetic over loads, constants, positions of
loops and scalars. What a loop carries in values from one iteration to the next is a statement of its own, which writes
memory made for it: an element for each iteration of the loops around that loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect.affine import Linear
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.loop_nests.loops import BRANCHES, LOOPS, Indices, Loop, read_loop
from mlir_gemm.dialect.walk import body, in_block, operations

LOADS, STORES = ("memref.load", "affine.load"), ("memref.store", "affine.store")
_VIEWS = ("memref.subview", "memref.cast", "memref.collapse_shape", "memref.expand_shape", "memref.transpose")
_INDEX = ("affine.apply", "memref.dim")


@dataclass(eq=False)
class Access:
    """One access to memory: which element, as a function of the loops around it."""

    op: Any
    memory: Any
    indices: tuple[Linear, ...]
    loops: tuple[Loop, ...]
    position: int
    """Where in the text it is."""

    @property
    def root(self) -> Any:
        """The argument or allocation that the memory is a view of."""
        return root_of(self.memory)

    def same_element(self, other: Access) -> bool:
        """Whether both access the same element in the same iteration."""
        return self.memory == other.memory and self.indices == other.indices


@dataclass(eq=False)
class Statement:
    """Writes its targets in every iteration of its loops."""

    op: Any
    loops: tuple[Loop, ...]
    targets: list[Access]
    values: list[Any]
    """What is written, a value of the source for each target."""
    position: int
    carried: dict[Any, int] = field(default_factory=dict[Any, int])
    """Values that stand for what a target holds so far, with the target's number."""
    combine: Any = None
    """The block of a scf.reduce that combines what the target holds with the value, if there is one."""
    loads: list[Access] = field(default_factory=list[Access])
    scalars: list[Any] = field(default_factory=list[Any])
    """Values that it uses as they are: arguments of the function, say."""


def root_of(memory: Any) -> Any:
    """What a memref is a view of."""
    owner = memory.owner
    while getattr(owner, "name", "") in _VIEWS:
        memory = owner.operands[0]
        owner = memory.owner
    return memory


def index_of(indices: Indices, value: Any) -> Linear | None:
    """A value as a position: one that some loop changes."""
    found = indices.of(value)
    return found if found is not None and found.terms else None


class Reader:
    """Reads the statements of a function's loops, in the order of the text.

    Raises InputError for what cannot be written as linalg.
    """

    def __init__(self, function: Any) -> None:
        self.function = function
        self.indices = Indices({})
        self.statements: list[Statement] = []
        self.accesses: dict[Any, Access] = {}
        """By value: what a load reads, and where the result of a reduction is kept."""
        self.others: list[tuple[int, Any]] = []
        """Operations between loops that write memory, with their positions."""
        self.done: list[Any] = []
        """Operations of the function's block that the statements stand for."""
        self._places = {op.operation: number for number, op in enumerate(operations(function))}
        for operation in in_block(body(function)):
            self._top(operation.operation)

    def position(self, op: Any) -> int:
        """Where in the text an operation is."""
        return 2 * self._places[op]

    def _top(self, op: Any) -> None:
        if op.name in LOOPS and not holds_others(op):
            self._loop(op, ())
            self.done.append(op)
        elif op.name in STORES:
            self._store(op, ())
            self.done.append(op)
        elif op.name in LOADS:
            self._load(op, ())
        elif any(isinstance(value.type, ir.MemRefType) for value in op.operands) and op.name not in (
            *_VIEWS, "memref.dim", "memref.dealloc",
        ):  # fmt: skip
            self.others.append((self.position(op), op))

    def _block(self, block: Any, loops: tuple[Loop, ...]) -> None:
        for operation in in_block(block):
            op = operation.operation
            if op.name in LOOPS:
                self._loop(op, loops)
            elif op.name in STORES:
                self._store(op, loops)
            elif op.name in LOADS:
                self._load(op, loops)
            elif op.name in BRANCHES:
                raise input_error(
                    op, f"'{op.name}' in a loop that is no step of a program; expected arith.select of the values"
                )
            elif not op.name.startswith(("arith.", "math.")) and op.name not in (*_INDEX, *_ENDS):
                raise input_error(
                    op, f"'{op.name}' in a loop over elements; expected loads and stores, arith, math and loops"
                )

    def _loop(self, op: Any, outer: tuple[Loop, ...]) -> None:
        own = read_loop(op, self.indices)
        loops = (*outer, *own)
        if op.name == "scf.forall" and len(op.results):
            raise input_error(op, "'scf.forall' that makes tensors; expected stores to memrefs")
        if not len(op.results):
            self._block(body(op), loops)
            return
        if op.name == "affine.parallel":
            raise input_error(op, "'affine.parallel' with results; expected affine.for with iter_args, or scf.parallel")
        starts = list(op.operands)[-len(op.results) :]
        targets = self._kept(op, outer)
        self._add(Statement(op, outer, targets, starts, self.position(op)))
        if op.name == "scf.parallel":
            self._block(body(op), loops)
            self._parallel_reduction(op, loops, targets)
            return
        self._reduction(op, outer, loops, targets)

    def _kept(self, op: Any, outer: tuple[Loop, ...]) -> list[Access]:
        """Memory for what a loop results in, one element for each iteration of those around it."""
        indices = tuple(Linear({loop: 1}) for loop in outer)
        found: list[Access] = []
        for result in op.results:
            if isinstance(result.type, ir.ShapedType):
                raise input_error(
                    op, f"'{op.name}' carries {result.type} through loops over elements; expected numbers, and stores "
                    "to memrefs",
                )  # fmt: skip
            memory = _allocated(self.function, result.type, outer)
            after = self.position(in_block(body(op))[-1].operation) + 1
            self.accesses[result] = Access(op, memory, indices, outer, after)
            found.append(Access(op, memory, indices, outer, self.position(op)))
        return found

    def _reduction(self, op: Any, outer: tuple[Loop, ...], loops: tuple[Loop, ...], targets: list[Access]) -> None:
        """The statement that carries values from one iteration to the next, through loops inside too."""
        carried = dict(zip(list(body(op).arguments)[1:], range(len(targets)), strict=True))
        last = in_block(body(op))[-1].operation
        values = list(last.operands)
        inner = values[0].owner if not hasattr(values[0].owner, "operations") else None
        nested = inner is not None and inner.name in ("affine.for", "scf.for") and inner.operation.block == body(op)
        if nested and inner is not None and values == list(inner.results) and _starts(inner) == list(carried):
            self._block_but(body(op), loops, inner.operation)
            own = (*loops, *read_loop(inner.operation, self.indices))
            self._reduction(inner.operation, outer, own, targets)
            return
        self._block(body(op), loops)
        self._add(Statement(op, loops, targets, values, self.position(last), carried))

    def _block_but(self, block: Any, loops: tuple[Loop, ...], left_out: Any) -> None:
        for operation in in_block(block)[:-1]:
            if operation.operation == left_out:
                continue
            if operation.operation.name in (*LOOPS, *STORES, *BRANCHES):
                raise input_error(
                    operation, f"'{operation.operation.name}' beside a loop that carries values on; expected it in "
                    "loops of its own",
                )  # fmt: skip
            if operation.operation.name in LOADS:
                self._load(operation.operation, loops)

    def _parallel_reduction(self, op: Any, loops: tuple[Loop, ...], targets: list[Access]) -> None:
        last = in_block(body(op))[-1].operation
        for target, value, region in zip(targets, last.operands, last.regions, strict=True):
            self._add(Statement(op, loops, [target], [value], self.position(last), {}, region.blocks[0]))

    def _store(self, op: Any, loops: tuple[Loop, ...]) -> None:
        value, memory, *given = op.operands
        target = self._access(op, memory, given, loops)
        self._add(Statement(op, loops, [target], [value], self.position(op)))

    def _load(self, op: Any, loops: tuple[Loop, ...]) -> None:
        memory, *given = op.operands
        self.accesses[op.results[0]] = self._access(op, memory, given, loops)

    def _access(self, op: Any, memory: Any, given: Sequence[Any], loops: tuple[Loop, ...]) -> Access:
        if op.name.startswith("affine."):
            found = self.indices.through(op.attributes["map"].value, given)
        else:
            found = [self.indices.of(value) for value in given]
        indices = tuple(each for each in found if each is not None)
        if len(indices) < len(found):
            axis = found.index(None)
            raise input_error(
                op, f"the index of '{op.name}' along dimension {axis} is no sum of loops times numbers; expected one "
                "(reading at computed places: tensor.extract in a linalg.generic)",
            )  # fmt: skip
        return Access(op, memory, indices, loops, self.position(op))

    def _add(self, statement: Statement) -> None:
        seen: list[Any] = []
        pending = list(statement.values)
        while pending:
            value = pending.pop()
            if value in seen or value in statement.carried:
                continue
            seen.append(value)
            pending += self._needs(value, statement)
        statement.loads.sort(key=lambda load: load.position)
        self.statements.append(statement)

    def _needs(self, value: Any, statement: Statement) -> Sequence[Any]:
        """What a value is computed from; where it is read, that is noted."""
        if value in self.accesses:
            statement.loads.append(self.accesses[value])
            return ()
        if index_of(self.indices, value) is not None:
            return ()
        owner = value.owner
        if hasattr(owner, "operations"):
            if owner.owner.operation == self.function.operation:
                statement.scalars.append(value)
                return ()
            loop = owner.owner.operation
            raise input_error(
                statement.op,
                f"what '{statement.op.name}' writes depends on what '{loop.name}' carries from one iteration to the "
                "next; expected values that iterations compute by themselves, and sums, products, maxima, ...",
            )
        if not owner.name.startswith(("arith.", "math.")) or len(owner.operation.regions):
            raise input_error(owner, f"'{owner.name}' makes a value of a loop; expected loads, arith and math")
        return list(owner.operands)


_ENDS = ("affine.yield", "scf.yield", "scf.reduce", "scf.forall.in_parallel")


def _starts(loop: Any) -> list[Any]:
    return list(loop.operands)[-len(loop.results) :]


def _allocated(function: Any, element: Any, loops: tuple[Loop, ...]) -> Any:
    """Memory at the top of the function with an element for each iteration of some loops."""
    dynamic = ir.ShapedType.get_dynamic_size()
    shape = [loop.trips if loop.extent is None else dynamic for loop in loops]
    sizes = [loop.op.operands[0] for loop in loops if loop.extent is not None]
    if sizes:
        raise input_error(
            loops[0].op, f"a value for each iteration of {loops[0].name}, whose number is known at run time only; "
            "expected a memref that it is stored to",
        )  # fmt: skip
    block = body(function)
    with ir.InsertionPoint.at_block_begin(block), function.operation.location:
        segments = ir.DenseI32ArrayAttr.get([0, 0])
        type_ = ir.MemRefType.get(shape, element)
        made = ir.Operation.create("memref.alloc", [type_], [], {"operandSegmentSizes": segments})
    return made.results[0]


def holds_others(op: Any) -> bool:
    """Whether a loop holds operations on whole tensors or memrefs: it is not a loop over elements."""
    return any(inner.operation.name.startswith(_WHOLE) for inner in operations(op))


_WHOLE = ("linalg.", "tensor.", "func.", "memref.copy", "tosa.")
