"""combine-in-reader: what combines the parts of rows is done by each block of the elementwise kernel that reads it.

Expects a program as `split-rows-in-workspace` leaves it. Where a kernel combines the parts of rows, and all that reads
its results is one elementwise kernel, with an element for each element of those rows, that becomes a kernel of rows: it
reads the parts, combines them in a buffer of its own, and does what it did. So there is one launch less, and one block
less that all others wait for. The kernel has its reduction along the parts, and its elementwise operation along the
rows. Leaves alone what others read too, what has more than `most` parts, results that belong to the caller, and sizes
known at run time only. A second run changes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.outlining import cuts, kernel_modules, programs
from mlir_gemm.dialect.outlining.kernel_functions import new_function
from mlir_gemm.dialect.outlining.row_kernels import is_rows
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import KIND, ROLE, SPLIT_K_WORKSPACE
from mlir_gemm.spec.kernel_record import ELEMENTWISE, ROWS


@dataclass(frozen=True)
class CombineInReader(Pass):
    """Combine the parts of rows where they are read."""

    name: ClassVar[str] = "combine-in-reader"
    most: int = 1024
    """Parts that every block combines at most."""

    def run(self, module: Any) -> None:
        while (found := _first(module, self.most)) is not None:
            reader, inner = found
            reader.take(inner)


def _first(module: Any, most: int) -> tuple[_Reader, Any] | None:
    """The first kernel that can combine what another does, and the module of that other."""
    modules = programs.kernel_modules(module)
    outer = [op for op in in_block(body(module)) if op.operation.name == "func.func" and len(op.regions[0].blocks)]
    runs = [run for op in outer for run in programs.runs_of(op)] if modules else []
    for run in runs:
        reader = _reader(run, runs, modules, most)
        if reader is not None:
            return reader, modules[programs.kernel_of(run)]
    return None


@dataclass(frozen=True)
class _Reader:
    """The elementwise kernel that reads what another kernel combines."""

    combining: Any
    """The tile.run of the kernel that combines."""
    run: Any
    inner: Any
    generic: Generic
    loops: int
    """The rows' loops."""
    results: dict[int, int]
    """By the numbers of the arguments that are read here, those that are written there."""

    def take(self, inner: Any) -> None:
        """Combines here, and removes the other kernel."""
        source, own = programs.function_of(inner), programs.function_of(self.inner)
        parts = [n for n, _ in enumerate(body(source).arguments) if n not in self.results.values()]
        others = [n for n, _ in enumerate(body(own).arguments) if n not in self.results]
        buffers = programs.buffers_of(self.combining)
        given = [buffers[n] for n in parts] + [programs.buffers_of(self.run)[n] for n in others]
        self._write(source, own, parts, others)
        name = programs.kernel_of(self.run)
        with ir.InsertionPoint(self.run.operation), self.run.operation.location:
            programs.run(name, given)
        programs.drop(self.run)
        programs.drop(self.combining)
        for buffer in [buffers[n] for n in self.results.values()]:
            if not any(True for _ in buffer.uses):
                buffer.owner.erase()
        cuts.write(self.inner, cuts.read(inner))
        kernel_modules.add_note(self.inner, "each block combines the parts of its row first")
        inner.operation.erase()

    def _write(self, source: Any, own: Any, parts: list[int], others: list[int]) -> None:
        theirs, mine = list(body(source).arguments), list(body(own).arguments)
        with own.location:
            types = [*(theirs[n].type for n in parts), *(mine[n].type for n in others)]
            name = ir.StringAttr(own.attributes["sym_name"]).value
            function, block = new_function(name, types, ir.InsertionPoint(own))
            arguments = list(block.arguments)
            known = dict(zip((theirs[n] for n in parts), arguments, strict=False))
            here = dict(zip((mine[n] for n in others), arguments[len(parts) :], strict=True))
            with ir.InsertionPoint(block):
                for read, written in self.results.items():
                    made = dialect("memref").AllocOp(theirs[written].type, [], []).result
                    known[theirs[written]] = here[mine[read]] = made
                for op in in_block(body(source))[:-1]:
                    clone(op, known)
                for op in in_block(body(own))[:-1]:
                    if op.operation == self.generic.op:
                        self._elementwise(here)
                    else:
                        clone(op, here)
                dialect("func").ReturnOp([])
        roles = argument_attributes(own)
        function.attributes[KIND] = ir.StringAttr.get(ROWS)
        function.attributes[SPLIT_K_WORKSPACE] = source.attributes[SPLIT_K_WORKSPACE]
        in_ = {ROLE: ir.StringAttr.get("in")}
        set_argument_attributes(function, [*(in_ for _ in parts), *(roles[n] for n in others)])
        own.operation.erase()

    def _elementwise(self, here: dict[Any, Any]) -> None:
        """The operation in the loops of the rows: one loop over elements gets that of the only row around it."""
        generic, count = self.generic, self.loops + 1
        added = count - len(generic.parallel)
        arguments = list(body(generic.op.parent).arguments)
        read = [arguments[number] for number in self.results]
        rows = [ir.AffineExpr.get_dim(loop) for loop in range(self.loops)]
        maps = [
            ir.AffineMap.get(count, 0, rows if operand in read else [_moved(each, added) for each in map_.results])
            for operand, map_ in zip(generic.operands, generic.maps, strict=True)
        ]
        operands = [here.get(operand, operand) for operand in generic.operands]
        inputs = len(generic.inputs)
        _, inside = structured.make(operands[:inputs], operands[inputs:], maps, (True,) * count)
        structured.clone_body(inside, generic, dict(zip(generic.body.arguments, inside.arguments, strict=True)))


def _moved(expression: Any, by: int) -> Any:
    """An index expression over loops that follow so many new ones."""
    if isinstance(expression, ir.AffineDimExpr):
        return ir.AffineExpr.get_dim(expression.position + by)
    return expression


def _reader(combining: Any, runs: list[Any], modules: dict[str, Any], most: int) -> _Reader | None:
    """The elementwise kernel that can combine what a kernel combines; None where there is none."""
    source = programs.function_of(modules[programs.kernel_of(combining)])
    found = _combination(source, most)
    if found is None:
        return None
    buffers = programs.buffers_of(combining)
    written = {buffers[number]: number for number in found}
    readers = [run for run in runs if run != combining and not written.keys().isdisjoint(programs.buffers_of(run))]
    if len(readers) != 1 or not all(_is_own(buffer) for buffer in written):
        return None
    (run,) = readers
    inner = modules[programs.kernel_of(run)]
    function = programs.function_of(inner)
    generic = _only_elementwise(function)
    if generic is None or sum(programs.kernel_of(each) == programs.kernel_of(run) for each in runs) > 1:
        return None
    results = {n: written[buffer] for n, buffer in enumerate(programs.buffers_of(run)) if buffer in written}
    types = [body(source).arguments[number].type for number in found]
    reader = _Reader(combining, run, inner, generic, len(types[0].shape), results)
    return reader if _fits(reader, function, types[0]) else None


def _combination(function: Any, most: int) -> list[int] | None:
    """The numbers of the arguments in which a kernel puts what it combines of at most so many parts of each row; None
    for another kernel."""
    if not is_rows(function) or SPLIT_K_WORKSPACE not in function.attributes:
        return None
    arguments = list(body(function).arguments)
    work = [structured.read(op) for op in in_block(body(function)) if structured.is_generic(op)]
    outputs = {output for generic in work for output in generic.outputs}
    if not work or work[0].elementwise or not all(map_.n_dims for map_ in work[0].maps):
        return None
    if any(len(generic.parallel) != len(work[0].parallel) - generic.elementwise for generic in work):
        return None
    reduction = work[0]
    shapes = {tuple(output.type.shape) for output in outputs}
    static = all(argument.type.has_static_shape for argument in arguments)
    if not static or len(shapes) != 1 or not outputs <= {*arguments} or reduction.parallel.count(False) != 1:
        return None
    numbers = [number for number, argument in enumerate(arguments) if argument in outputs]
    parts = structured.sizes_of(reduction)[-1]
    given = [argument for number, argument in enumerate(arguments) if number not in numbers]
    return numbers if parts <= most and set(given) <= set(reduction.inputs) and not reduction.parallel[-1] else None


def _is_own(buffer: Any) -> bool:
    """Whether the program made a buffer, for its kernels."""
    return getattr(buffer.owner, "name", "") == "memref.alloc"


def _only_elementwise(function: Any) -> Generic | None:
    """The one operation of an elementwise kernel; None for another kernel, or several."""
    attributes = function.operation.attributes
    if KIND not in attributes or ir.StringAttr(attributes[KIND]).value != ELEMENTWISE:
        return None
    inside = [op for op in in_block(body(function)) if op.operation.name not in ("func.return", "arith.constant")]
    if len(inside) != 1 or not structured.is_generic(inside[0]) or structured.is_free(inside[0]):
        return None
    generic = structured.read(inside[0])
    whole = all(isinstance(e, ir.AffineDimExpr) for map_ in generic.maps for e in map_.results)
    known = all(isinstance(each.type, ir.MemRefType) and each.type.has_static_shape for each in generic.operands)
    return generic if generic.elementwise and whole and known else None


def _fits(reader: _Reader, function: Any, rows: Any) -> bool:
    """Whether an elementwise operation goes along the rows, whose results are memrefs of type `rows`, and what it
    stores lies so that neighbours follow each other there."""
    generic, count = reader.generic, reader.loops + 1
    arguments = list(body(function).arguments)
    added = count - len(generic.parallel)
    single = math.prod(rows.shape) == 1
    if added and not (added == reader.loops == 1 and single):
        return False
    expected = [] if added else list(range(reader.loops))
    for operand, map_ in zip(generic.operands, generic.maps, strict=True):
        positions = [e.position for e in map_.results]
        if operand in [arguments[number] for number in reader.results] and positions != expected:
            return False
    sizes = structured.sizes_of(generic)
    return bool(added) or list(sizes[: reader.loops]) == list(rows.shape)
