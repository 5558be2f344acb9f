"""join-launches: kernels that do not wait for one another become one, which is launched once.

Expects a program whose kernels are threads (after `check-lowered`), some of them marked (`tile.launch_with`) by
`share-launches` or `select-side-by-side`. Leaves one kernel in the place of those that name the same one, in the place
of the launch of one of them: it takes the arguments of all, has the blocks of all, one after another along x, and its
blocks branch by their number, all threads of a block alike; each reads `gpu.block_id` as in the kernel that it comes
from. Where one of them waits for the kernel before it (`nvvm.griddepcontrol`), all blocks do, at the start. Products
wait where they did, each in its branch, and have their shared memory at one place, of which a block uses what its
branch needs. `tile.joined` on the function keeps the names of the others with what they compute, by which text that was
saved is taken apart again.

Kernels that cannot be joined stay as they are: with several dimensions of blocks, other numbers of threads, other
clusters or bounds on registers, shared memory of any but products, more than 4 KB of parameters, or where a launch
between them has to see only one done. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of, clone
from mlir_gemm.dialect.outlining import cuts, kernel_modules, programs, side_by_side
from mlir_gemm.dialect.outlining.side_by_side import Uses
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.dialect.walk import body, in_block, named, operations, users
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import (
    ASSERTS,
    CLUSTER_DIM,
    DEPENDENT_LAUNCH,
    JOINED,
    MAPS,
    NOTE,
    PROBLEM,
    REFERENCE,
    SCHEDULE,
)

MAP_BYTES, ADDRESS_BYTES = 128, 8
MOST_BYTES = 4096
"""Bytes of parameters that every driver passes."""
_WAIT = "nvvm.griddepcontrol"
_KNOWN_GRID = "known_grid_size"
_NAMES = ("sym_name", "function_type", "arg_attrs")


@dataclass(frozen=True)
class JoinLaunches(Pass):
    """Launch kernels side by side at once."""

    name: ClassVar[str] = "join-launches"

    def run(self, module: Any) -> None:
        modules = programs.kernel_modules(module)
        runs = programs.runs_of(programs.function_of(module)) if modules else []
        for name in [programs.kernel_of(run) for run in runs]:
            wanted = side_by_side.anchor_of(programs.function_of(modules[name]))
            if wanted in modules and wanted != name:
                one, other = _Kernel(modules[wanted]), _Kernel(modules[name])
                if one.takes(other) and _join_runs(module, modules, wanted, name):
                    one.join(other)
                    _rename(modules, name, wanted)
                    del modules[name]


def _join_runs(module: Any, modules: dict[str, Any], wanted: str, name: str) -> bool:
    """Whether the run of one kernel has become a part of the other's."""
    runs = programs.runs_of(programs.function_of(module))
    names = [programs.kernel_of(run) for run in runs]
    if names.count(wanted) != 1 or names.count(name) != 1:
        return False
    first, last = sorted((names.index(wanted), names.index(name)))
    place = side_by_side.place_of([Uses.of(run, modules) for run in runs], first, last)
    if place is None:
        return False
    one, other = (runs[names.index(each)] for each in (wanted, name))
    buffers = [*programs.buffers_of(one), *programs.buffers_of(other)]
    if place == first:
        for buffer in buffers:
            programs.move_before(buffer, runs[first].operation)
    with ir.InsertionPoint(runs[place]), one.operation.location:
        programs.run(wanted, buffers)
    programs.drop(one)
    programs.drop(other)
    return True


def _rename(modules: dict[str, Any], name: str, wanted: str) -> None:
    """Lets what is said of a kernel be said of the one that it has joined."""
    one, other = modules[wanted], modules[name]
    gone = other.operation.attributes
    text = f"beside it, in blocks of its own: {name}"
    known = ir.StringAttr(one.operation.attributes[NOTE]).value if NOTE in one.operation.attributes else ""
    if text not in known.split("; "):  # of text that was taken apart it is
        kernel_modules.add_note(one, text)
    if NOTE in gone and (why := ir.StringAttr(gone[NOTE]).value) not in known:
        kernel_modules.add_note(one, why)
    cuts.write(one, {**cuts.read(other), **cuts.read(one)})
    for each in modules.values():
        reasons = cuts.read(each)
        if name in reasons and each not in (one, other):
            why = reasons.pop(name)
            reasons[wanted] = "; ".join(dict.fromkeys([*([reasons[wanted]] if wanted in reasons else []), why]))
            cuts.write(each, reasons)
    other.operation.erase()


class _Kernel:
    """A kernel's module, with its host function, its launch and the function that runs on the GPU."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.host = programs.function_of(module)
        self.launches = named(module, "gpu.launch_func")
        self.device = named(module, "gpu.func")

    def takes(self, other: _Kernel) -> bool:
        """Whether both are one launch along x, of as many threads and clusters, and the other one has no memory of its
        own, or both are products whose memory can be at one place."""
        if not all(each._is_plain() for each in (self, other)) or self._sizes()[3:] != other._sizes()[3:]:
            return False
        if not self._is_beside_product(other):
            return not other._memory() and not any(each._needs_more() for each in (self, other))
        one, more = (each._bounds() for each in (self, other))
        given = sum(each._bytes() for each in (self, other))
        return one == more and given <= MOST_BYTES and _fit(self._memory(), other._memory())

    def _is_beside_product(self, other: _Kernel) -> bool:
        return all(PROBLEM in each.host.attributes for each in (self, other))

    def _bytes(self) -> int:
        """Bytes of its parameters, about: numbers and addresses, and tensor maps by value."""
        maps = len(ir.DenseI64ArrayAttr(self.device[0].attributes[MAPS])) if MAPS in self.device[0].attributes else 0
        return MAP_BYTES * maps + ADDRESS_BYTES * (len(body(self.device[0]).arguments) - maps)

    def _memory(self) -> list[Any]:
        """What stands in the module beside the function that runs on the GPU: shared memory."""
        return [each for each in in_block(body(self.device[0].operation.parent)) if each != self.device[0]]

    def _needs_more(self) -> bool:
        """Whether a launch says more than how many blocks and threads there are."""
        return self.launches[0].dynamicSharedMemorySize is not None or CLUSTER_DIM in self.device[0].attributes

    def _bounds(self) -> dict[str, Any]:
        """What is said of the kernel that must hold for all that is in it."""
        known = (_KNOWN_GRID, MAPS, DEPENDENT_LAUNCH, *_NAMES)
        return {name: each for name, each in attributes_of(self.device[0]).items() if name not in known}

    def _sizes(self) -> list[int | None]:
        return [constants.integer_of(each) for each in list(self.launches[0].operation.operands)[:6]]

    def _is_plain(self) -> bool:
        if len(self.launches) != 1 or len(self.device) != 1 or ASSERTS in self.device[0].attributes:
            return False
        launch, kernel = self.launches[0], self.device[0]
        if launch.clusterSizeX is not None or launch.asyncToken is not None:
            return False
        if self._sizes()[1:3] != [1, 1] or len(kernel.regions[0].blocks) != 1:
            return False
        return not named(kernel, "gpu.grid_dim") and not any(
            "x" not in str(each.attributes["dimension"]) for each in named(kernel, "gpu.block_id")
        )

    def join(self, other: _Kernel) -> None:
        """Takes in the other one's work."""
        self._keep(other)
        self._join_hosts(other)
        counts = [each.launches[0].gridSizeX for each in (self, other)]
        self._join_devices(other, constants.integer_of(counts[0]))

    def _keep(self, other: _Kernel) -> None:
        """Keeps the name of the other one, and what it computes."""
        attributes = self.host.attributes
        known = list(ir.ArrayAttr(attributes[JOINED])) if JOINED in attributes else []
        name = ir.StringAttr.get(kernel_modules.name_of(other.module))
        attributes[JOINED] = ir.ArrayAttr.get([*known, name, ir.StringAttr.get(other._reference())])

    def _reference(self) -> str:
        """What it computes, with what was decided of it."""
        attributes = self.host.attributes
        text = ir.StringAttr(attributes[REFERENCE]).value if REFERENCE in attributes else ""
        decided = [name for name in (PROBLEM, SCHEDULE) if name in attributes]
        if not text or not decided:
            return text
        held = parse_module(text, REFERENCE, self.host.context, own=True)
        for name in decided:
            programs.function_of(held).attributes[name] = attributes[name]
        return "\n".join(each.operation.get_asm(use_local_scope=True) for each in in_block(body(held)))

    def _join_hosts(self, other: _Kernel) -> None:
        """Arguments, and what is computed in front of the launch."""
        block, values = body(self.host), dict[Any, Any]()
        marks = [*argument_attributes(self.host), *argument_attributes(other.host)]
        for argument in body(other.host).arguments:
            values[argument] = block.add_argument(argument.type, argument.location)
        types = [argument.type for argument in block.arguments]
        self.host.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))
        set_argument_attributes(self.host, marks)
        launch, joined = self.launches[0], other.launches[0]
        with ir.InsertionPoint(launch), launch.location:
            for operation in in_block(body(other.host)):
                if operation.operation.name not in ("gpu.launch_func", "func.return"):
                    clone(operation, values)
            self._launch(launch, joined, values)

    def _launch(self, launch: Any, joined: Any, values: dict[Any, Any]) -> None:
        """One launch, of the blocks of both."""
        blocks = [launch.gridSizeX, values[joined.gridSizeX]]
        numbers = [constants.integer_of(each) for each in blocks]
        known = [number for number in numbers if number is not None]
        total = constants.index(sum(known)) if len(known) == len(numbers) else indexing.add(*blocks)
        operands = [*launch.kernelOperands, *(values[each] for each in joined.kernelOperands)]
        operands += [blocks[0]] if numbers[0] is None else []
        others = list(launch.operation.operands)[1:6]
        bytes_ = _larger(launch.dynamicSharedMemorySize, values.get(joined.dynamicSharedMemorySize))
        attributes = attributes_of(launch)
        segments = [0, *[1] * 6, *[0] * 3, len(bytes_), len(operands), 0]
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(segments)
        ir.Operation.create("gpu.launch_func", operands=[total, *others, *bytes_, *operands], attributes=attributes)

    def _join_devices(self, other: _Kernel, first: int | None) -> None:
        """The function that runs on the GPU: `first` blocks are this one's, or as many as its last argument says."""
        kernel, joined = self.device[0], other.device[0]
        block, values = body(kernel), dict[Any, Any]()
        in_front = not self._is_beside_product(other)
        maps = [number + each for number, one in ((0, kernel), (len(block.arguments), joined))
                for each in (ir.DenseI64ArrayAttr(one.attributes[MAPS]) if MAPS in one.attributes else ())]  # fmt: skip
        if maps:
            kernel.attributes[MAPS] = ir.DenseI64ArrayAttr.get(maps)
        _put_together(self._memory(), other._memory())
        for argument in body(joined).arguments:
            values[argument] = block.add_argument(argument.type, argument.location)
        with kernel.location:
            count = block.add_argument(ir.IndexType.get(), kernel.location) if first is None else None
        types = [argument.type for argument in block.arguments]
        kernel.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))
        *own, _ = [each.operation for each in in_block(block)]
        waiting = any(_waits(each) for each in (kernel, joined))
        with ir.InsertionPoint.at_block_begin(block), kernel.location:
            if waiting and in_front:
                _wait()
            here = dialect("gpu").BlockIdOp(dialect("gpu").Dimension.x).result
            limit = constants.index(first) if first is not None else count
            arith = dialect("arith")
            is_first = arith.CmpIOp(arith.CmpIPredicate.ult, here, limit).result
            branch = dialect("scf").IfOp(is_first, has_else=True)
        with ir.InsertionPoint(branch.then_block), kernel.location:
            if waiting and not in_front and not _waits(kernel):
                _wait()
        for each in own:
            if each.name == _WAIT and in_front:
                each.erase()
            else:
                branch.then_block.append(each)
        with ir.InsertionPoint(branch.then_block), kernel.location:
            dialect("scf").YieldOp([])
        with ir.InsertionPoint(branch.else_block), kernel.location:
            if waiting and not in_front and not _waits(joined):
                _wait()
            place = indexing.sub(here, limit)
            for each in in_block(body(joined))[:-1]:
                if each.operation.name != _WAIT or not in_front:
                    clone(each, values)
            dialect("scf").YieldOp([])
        for each in [each.operation for each in operations(branch) if each.operation.name == "gpu.block_id"]:
            if _is_within(each, branch.else_block):
                each.results[0].replace_all_uses_with(place)
                each.erase()
        self._write_marks(kernel, joined, waiting)
        self.launches[0].operation.erase()

    def _write_marks(self, kernel: Any, joined: Any, waiting: bool) -> None:
        if waiting:
            kernel.attributes[DEPENDENT_LAUNCH] = ir.UnitAttr.get()
        if _KNOWN_GRID in kernel.attributes:
            known = [ir.DenseI32ArrayAttr(each.attributes[_KNOWN_GRID])[0]
                     for each in (kernel, joined) if _KNOWN_GRID in each.attributes]  # fmt: skip
            del kernel.attributes[_KNOWN_GRID]
            if len(known) > 1:
                kernel.attributes[_KNOWN_GRID] = ir.DenseI32ArrayAttr.get([sum(known), 1, 1])


def _fit(one: list[Any], other: list[Any]) -> bool:
    """Whether the shared memories of two kernels, one of each or none, can be at one place: lines of bytes of which
    views are taken, with sizes that the kernels say or that the launch does."""
    if len(one) != len(other) or len(one) > 1 or any(each.operation.name != "memref.global" for each in (*one, *other)):
        return False
    types = [_type(each) for each in (*one, *other)]
    viewed = all(user.name == "memref.view" for each in (*one, *other) for got in _taken(each)
                 for user in users(got.results[0]))  # fmt: skip
    lines = all(len(type_.shape) == 1 and str(type_.element_type) == "i8" for type_ in types)
    return lines and viewed and len({type_.shape[0] == 0 for type_ in types}) < 2


def _put_together(one: list[Any], other: list[Any]) -> None:
    """Gives two kernels the larger of their shared memories, by the name that the first one has for its own."""
    if not one or not other:
        return
    first, second = one[0], other[0]
    type_ = max(_type(first), _type(second), key=lambda each: each.shape[0])
    bits = [ir.IntegerAttr(each.attributes["alignment"]) for each in (first, second) if "alignment" in each.attributes]
    if bits:
        first.attributes["alignment"] = max(bits, key=lambda each: each.value)
    for got in (*_taken(first), *_taken(second)):
        got.attributes["name"] = ir.FlatSymbolRefAttr.get(ir.StringAttr(first.attributes["sym_name"]).value)
        got.results[0].set_type(type_)
    first.attributes["type"] = ir.TypeAttr.get(type_)


def _type(memory: Any) -> Any:
    return ir.MemRefType(ir.TypeAttr(memory.attributes["type"]).value)


def _taken(memory: Any) -> list[Any]:
    """Where a kernel gets hold of its shared memory."""
    return [each.operation for each in named(memory.operation.parent, "memref.get_global")]


def _larger(one: Any | None, other: Any | None) -> list[Any]:
    """The larger of two constants, if there are any, as an operand."""
    known = [each for each in (one, other) if each is not None]
    return [max(known, key=lambda each: constants.integer_of(each) or 0)] if known else []


def _wait() -> None:
    """Waits for the kernel before this one, at the insertion point."""
    nvvm = dialect("nvvm")
    nvvm.GriddepcontrolOp(nvvm.GridDepActionKind.wait)


def _waits(kernel: Any) -> bool:
    return DEPENDENT_LAUNCH in kernel.attributes


def _is_within(op: Any, block: Any) -> bool:
    """Whether an operation is in a block, or in a region of an operation in it."""
    while op is not None and op.name != "gpu.func":
        if op.block == block:
            return True
        op = op.parent.operation
    return False
