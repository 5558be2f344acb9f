"""normalise-kernels: every kernel gets the loops and the buffer shapes that later stages expect.

Expects functions on memrefs of straight-line linalg (`outline-kernels`, or written by hand): fills, copies, one product
or other linalg.generic, and elementwise ones over the same elements, on arguments, allocations, and
memref.reinterpret_casts of them. In a program, what the main function passes to a kernel changes with its arguments.

Leaves of a product the loops [batch..., m, n, k] with one m, one n and one k, of size 1 where it has none, and of what
follows it the loops [batch..., m, n]. Dimensions that follow one another evenly in every access are merged; m or n
dimensions that do not become batch dimensions. Where the result is contiguous along m, A and B are exchanged.
Every argument is a view of its buffer with one dimension for each loop that it is indexed by, outermost first (D, and
outputs: in the order of the loops), and carries no casts. Other kernels keep parallel and reduction loops, merged
likewise. A second run changes nothing.

Refuses a kernel whose operations do not run over the same elements, or that reads what it writes elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import positions, windows
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of, clone, clone_slice
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining import programs
from mlir_gemm.dialect.outlining.kernel_functions import new_function, windows_of
from mlir_gemm.dialect.outlining.kernels import Kernel, Place, Statement
from mlir_gemm.dialect.outlining.loop_order import order_of
from mlir_gemm.dialect.outlining.operand_views import OperandViews, Seen
from mlir_gemm.dialect.outlining.row_kernels import is_rows, rows_of
from mlir_gemm.dialect.outlining.tensors import windows_view
from mlir_gemm.dialect.outlining.views import View, memref_type, view_of_type
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass

_OF_THE_TYPE = ("sym_name", "function_type", "arg_attrs", "res_attrs")
_BESIDE = (
    "arith.constant",
    "tile.position",
    "memref.alloc",
    "memref.dealloc",
    "memref.reinterpret_cast",
    "tile.windows",
    "func.return",
)


@dataclass(frozen=True)
class NormaliseKernels(Pass):
    """Give kernels the loops and views that later stages know."""

    name: ClassVar[str] = "normalise-kernels"

    def run(self, module: Any) -> None:
        modules = programs.kernel_modules(module)
        runs = [(programs.kernel_of(run), run) for run in named(module, "tile.run")]
        for name, inner in modules.items():
            function = programs.function_of(inner)
            sources = _Rewriting(function).rewrite()
            for run in [run for kernel, run in runs if kernel == name]:
                buffers = programs.buffers_of(run)
                programs.set_buffers(run, [buffers[number] for number in sources])
            function.erase()


class _Rewriting:
    """One kernel's function, on its way to another one in front of it."""

    def __init__(self, function: Any):
        self.function = function
        self.arguments = list(body(function).arguments)
        for op in in_block(body(function)):
            _compute_positions(op.operation)
            _unshare(op.operation)
        self.work = [op.operation for op in in_block(body(function)) if op.operation.name.startswith("linalg.")]
        self.kernel = Kernel()
        self.statements: dict[Any, Statement] = {}
        self._read()
        own = [root for root in self.kernel.written if root not in self.arguments]
        order = order_of(self.kernel, own)
        if isinstance(order, str):
            raise pass_error(self.work[0], order)
        self.order = order
        fixed = [root for each in self.kernel.statements for root in each.roots if root is not None]
        fixed = [root for root in fixed if positions.is_position(root)]
        self.views = OperandViews(self.kernel, order, [*self.arguments, *fixed])
        self.memory: dict[tuple[Any, View], Any] = {}

    def rewrite(self) -> list[int]:
        """Writes the new function; the numbers of the old arguments that its arguments are views of."""
        plan = {op: self._plan(op) for op in self.work}
        seen_in_order = [seen for op in self.work for seen in self._in_order(op, plan[op]) if seen is not None]
        used = [seen for seen in seen_in_order if seen.root in self.arguments]
        written = [seen for seen in used if seen.root in self.kernel.written]
        anywhere = [_resolve(memory) for op in self.work if op in self.statements for memory in _anywhere(op)]
        read = [*((seen.root, seen.view) for seen in used if seen not in written), *anywhere]
        given = dict.fromkeys([*read, *((seen.root, seen.view) for seen in written)])
        types = [root.type if view.parts else memref_type(view, root.type.element_type) for root, view in given]
        name = ir.StringAttr(self.function.attributes["sym_name"]).value
        function, block = new_function(name, types, ir.InsertionPoint(self.function))
        for key, attribute in attributes_of(self.function).items():
            if key not in _OF_THE_TYPE:
                function.attributes[key] = attribute
        self.memory = dict(zip(given, block.arguments, strict=True))
        with ir.InsertionPoint(block):
            for (root, view), memory in list(self.memory.items()):
                if view.parts:
                    self.memory[root, view] = windows_of(memory, view)
            for seen in seen_in_order:
                if (seen.root, seen.view) not in self.memory:
                    type_ = memref_type(seen.view, seen.root.type.element_type)
                    if positions.is_position(seen.root):
                        self.memory[seen.root, seen.view] = positions.again(seen.root, type_)
                        continue
                    self.memory[seen.root, seen.view] = dialect("memref").AllocOp(type_, [], []).result
            for op in self.work:
                with op.location:
                    self._write(op, plan[op])
            dialect("func").ReturnOp([])
        return [self.arguments.index(root) for root, _ in given]

    def _read(self) -> None:
        for op in in_block(body(self.function)):
            if op.operation.name not in (*_BESIDE, "linalg.fill", "linalg.copy", "linalg.generic", "linalg.matmul"):
                raise pass_error(op, f"'{op.operation.name}' in a kernel; expected linalg on memrefs")
        loops = [op for op in self.work if structured.is_generic(op)]
        if not loops:
            raise pass_error(self.function, "a kernel without a linalg.generic; expected one")
        if is_rows(self.function):
            found = rows_of(loops, _place_of)
            if isinstance(found, str):
                raise pass_error(self.function, f"these operations are not one kernel of rows: {found}")
            self.kernel = found
            self.statements = {statement.generic.op: statement for statement in found.statements}
            self._check_places()
            return
        reductions = [op for op in loops if not structured.read(op).elementwise]
        seed = next((op for op in loops if product_of(op)), reductions[0] if reductions else loops[0])
        for op in [seed, *(each for each in loops if each != seed)]:
            if op == seed:
                self.kernel.seed(op, _place_of)
            elif (reason := self.kernel.join(op, _place_of)) is not None:
                raise pass_error(op, f"this cannot be part of the kernel of the first linalg.generic: {reason}")
            self.statements[op] = self.kernel.statements[-1]
        self._check_places()

    def _check_places(self) -> None:
        for op in self.work:
            if op.name == "linalg.fill" and _resolve(op.operands[1])[0] not in self.kernel.written:
                raise pass_error(op, "fills a buffer that nothing else in the kernel writes")
        for statement in self.kernel.statements:
            for root, access in zip(statement.roots, statement.accesses, strict=True):
                if root in self.kernel.written and access != self.kernel.written[root]:
                    raise pass_error(statement.generic.op, "reads what the kernel writes, but at another place of it")

    def _plan(self, op: Any) -> list[Seen | None]:
        if op in self.statements:
            return self.views.of(self.statements[op])
        return [None, self.views.of_written(_resolve(op.operands[1])[0])]

    def _memory(self, seen: Seen | None) -> Any:
        assert seen is not None  # linalg operands that are scalars belong to linalg.fill, and to no linalg.generic here
        return self.memory[seen.root, seen.view]

    def _write(self, op: Any, seen: list[Seen | None]) -> None:
        if op.name == "linalg.fill":
            structured.make_named(op.name, clone(op.operands[0].owner, {}).results[0], self._memory(seen[1]))
        elif op.name == "linalg.copy":
            structured.make_named(op.name, self._memory(seen[0]), self._memory(seen[1]))
        else:
            self._write_generic(self.statements[op].generic, seen)

    def _write_generic(self, generic: Generic, seen: list[Seen | None]) -> None:
        numbers = self._operand_order(generic)
        along = any(place >= len(self.order.outer) for each in seen if each is not None for place in each.places)
        loops = self.order.loops if along or not generic.elementwise else self.order.outer
        parallel = [generic.elementwise or place < len(self.order.outer) for place in range(len(loops))]
        maps = [_map(len(loops), seen[number]) for number in numbers]
        memory = [self._memory(seen[number]) for number in numbers]
        count = len(generic.inputs)
        _, block = structured.make(memory[:count], memory[count:], maps, parallel)
        values = {generic.body.arguments[n]: new for n, new in zip(numbers, block.arguments, strict=True)}
        values.update((memory, self.memory[_resolve(memory)]) for memory in _anywhere(generic.op))
        structured.clone_body(block, generic, values)
        if self.order.swapped and self._is_product(generic):
            product = product_of(block.owner)
            assert product is not None  # it was one before, and still is
            product.swap_factors()

    def _in_order(self, op: Any, seen: list[Seen | None]) -> list[Seen | None]:
        if op not in self.statements:
            return seen
        return [seen[number] for number in self._operand_order(self.statements[op].generic)]

    def _operand_order(self, generic: Generic) -> list[int]:
        """The operands in their new order: what A is computed from, then what B is, then the rest."""
        product = self.kernel.product
        numbers = list(range(len(generic.operands)))
        if product is None or not self._is_product(generic):
            return numbers
        first = sorted((product.b if self.order.swapped else product.a).operands)
        return first + [number for number in numbers if number not in first]

    def _is_product(self, generic: Generic) -> bool:
        return self.kernel.product is not None and generic.op == self.kernel.product.op


def _anywhere(op: Any) -> list[Any]:
    return structured.read_anywhere(op) if op.name == "linalg.generic" else []


def _unshare(op: Any) -> None:
    """Gives B operands of its own for those that both factors of a product are computed from: each factor is seen with
    the loops of its side."""
    product = product_of(op)
    shared = sorted(set(product.a.operands) & set(product.b.operands)) if product else []
    if product is None or not shared:
        return
    generic, count = product.generic, len(product.generic.inputs)
    inputs = [*generic.inputs, *(generic.inputs[number] for number in shared)]
    maps = [*generic.maps[:count], *(generic.maps[number] for number in shared), *generic.maps[count:]]
    with ir.InsertionPoint(op), op.location:
        _, block = structured.make(inputs, generic.outputs, maps, generic.parallel)
    arguments = list(generic.body.arguments)
    for_a = dict(zip(arguments, [*list(block.arguments)[:count], *list(block.arguments)[len(inputs) :]], strict=True))
    for_b = {**for_a, **{arguments[n]: block.arguments[count + place] for place, n in enumerate(shared)}}
    with ir.InsertionPoint(block), op.location:
        (left,) = clone_slice([product.a.value], generic.body, for_a)
        (right,) = clone_slice([product.b.value], generic.body, for_b)
        term = clone(product.multiplication, {})
        term.operands[0], term.operands[1] = left, right
        total = clone(product.addition, {**for_a, product.multiplication.results[0]: term.results[0]})
        structured.yield_([total.results[0]])
    op.erase()


def _compute_positions(op: Any) -> None:
    """A position that a body reads at a computed place is that place's number."""
    for load in named(op, "memref.load"):
        memory, *indices = load.operation.operands
        root = _resolve(memory)[0]
        if positions.is_position(root) and not positions.size_in(root):
            with ir.InsertionPoint(load), load.location:
                load.operation.results[0].replace_all_uses_with(positions.at(memory, indices))
            load.operation.erase()


def _map(loops: int, seen: Seen | None) -> Any:
    assert seen is not None
    return ir.AffineMap.get(loops, 0, [ir.AffineDimExpr.get(place) for place in seen.places])


def _resolve(memory: Any) -> Place:
    """The buffer that a memref is a view of, and the view."""
    root = memory
    if windows.is_windows(memory):
        return _resolve(windows.source_of(memory))[0], windows_view(memory)
    while getattr(root.owner, "name", "") == "memref.reinterpret_cast":
        root = root.owner.operands[0]
    return root, view_of_type(memory.type, memory.owner)


def _place_of(generic: Generic, number: int) -> Place | None:
    if number >= len(generic.operands) or not isinstance(generic.operands[number].type, ir.MemRefType):
        return None
    return _resolve(generic.operands[number])
