"""outline-kernels: the function becomes a program, which runs kernels on buffers.

Expects one function on tensors with `tile.kernel` on its linalg operations (`group-kernels`), whose results are
computed for it (`copy-results`). Leaves the same function on memrefs, holding memref.alloc, memref.get_global and
tile.run only, and for each kernel a module with a function on memrefs: fills, copies and linalg.generics, in the loops
that they had, on memref.reinterpret_casts where a tensor was reshaped. Tensor results became arguments with the role
`result`. Kernels without a product have `tile.kind`, `rows` or `elementwise`; modules have `tile.note` where there is
something to say, and `tile.cuts`, which says of each kernel that they read from why it is another one. A function
without tensors is left alone.

A result is written straight to the memory that it is for, unless that is read later by others than the operation that
writes the same place; then it is copied at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.locations import input_error, pass_error
from mlir_gemm.dialect.outlining import cuts, programs
from mlir_gemm.dialect.outlining.buffers import Buffers, Groups, leaves, root_of_part
from mlir_gemm.dialect.outlining.kernel_functions import KernelFunction, new_function
from mlir_gemm.dialect.outlining.views import View, memref_type, view_of_type
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.importing.copy_results import sinks
from mlir_gemm.passes.importing.group_kernels import mark_of
from mlir_gemm.passes.importing.group_rows import kind_of_group
from mlir_gemm.spec.attributes import COMPLEX, KIND, NOTE, ROLE, ROWS, SCHEDULE, SYMMETRIC
from mlir_gemm.spec.kernel_record import ELEMENTWISE, PRODUCT
from mlir_gemm.spec.kernel_record import ROWS as KIND_OF_ROWS

_OF_THE_TYPE = ("sym_name", "function_type", "arg_attrs", "res_attrs")


@dataclass(frozen=True)
class OutlineKernels(Pass):
    """Make a module of each kernel, and run them on buffers."""

    name: ClassVar[str] = "outline-kernels"

    def run(self, module: Any) -> None:
        functions = [f for f in named(module, "func.func") if len(f.regions[0].blocks) and _has_tensors(f)]
        for function in functions:
            _check(function)
            _Program(module, function).build()
        for function in functions:
            function.erase()


def _has_tensors(function: Any) -> bool:
    values = [value for op in in_block(body(function)) for value in [*op.operation.operands, *op.operation.results]]
    return any(isinstance(value.type, ir.RankedTensorType) for value in [*body(function).arguments, *values])


def _check(function: Any) -> None:
    for op in in_block(body(function)):
        if op.operation.name in ("linalg.generic", "linalg.matmul") and mark_of(op) is None:
            raise pass_error(op, f"'{op.operation.name}' belongs to no kernel; run group-kernels first")
    for argument in body(function).arguments:
        if not isinstance(argument.type, (ir.RankedTensorType, ir.MemRefType)):
            raise input_error(
                function, f"argument {argument.arg_number} has type {argument.type}; expected tensors or memrefs"
            )
        if not argument.type.has_static_shape:
            raise input_error(
                function, f"argument {argument.arg_number} has dynamic sizes ({argument.type}); sizes must be static"
            )


class _Program:
    """A function on its way to becoming a program."""

    def __init__(self, module: Any, function: Any):
        self.module = module
        self.function = function
        self.name = ir.StringAttr(function.attributes["sym_name"]).value
        self.groups: Groups = {}
        for op in in_block(body(function)):
            number = mark_of(op)
            if number is not None:
                self.groups.setdefault(number, []).append(op.operation)
        self.groups = dict(sorted(self.groups.items()))
        self.buffers = Buffers(self.groups)
        self.main, self.block = self._new_main()
        self.values: dict[Any, Any] = dict(zip(body(function).arguments, self.block.arguments, strict=False))
        self.roles: dict[Any, str] = {}
        self.count = 0
        self.names: dict[str, str] = {}
        """The kernels' names, by their numbers as text."""

    def build(self) -> None:
        """Writes the program after the function, which stays."""
        self._give_results()
        with ir.InsertionPoint(self.block):
            for number, ops in self.groups.items():
                self._run(number, ops)
            for value, memory in self.buffers.late:
                self._run_copy(value, memory)
            dialect("func").ReturnOp([])
        self._write_roles()

    def _new_main(self) -> tuple[Any, Any]:
        function = self.function
        returned = in_block(body(function))[-1].operation.operands
        types = [_memory_type(value.type) for value in [*body(function).arguments, *returned]]
        places = [*(a.location for a in body(function).arguments), *(function.location for _ in returned)]
        with function.location:
            main, block = new_function(self.name, types, ir.InsertionPoint(function), places)
        for name, attribute in attributes_of(function).items():
            if name not in _OF_THE_TYPE:
                main.attributes[name] = attribute
        return main, block

    def _give_results(self) -> None:
        count = len(body(self.function).arguments)
        for op, position in sinks(self.function):
            if op.name == "func.return":
                self.buffers.give(op.operands[position], self.block.arguments[count + position])
            else:
                self.buffers.give(op.operands[0], op.operands[1])

    def _run(self, number: int, ops: list[Any]) -> None:
        outside = [result for op in ops for result in op.results if leaves(result, ops)]
        if not outside:
            return
        kernel = self._kernel([op.attributes[NOTE] for op in ops if NOTE in op.attributes], kind_of_group(ops))
        self.names[str(number)] = kernel.name
        reasons = {before: why for op in ops for before, why in cuts.read(op).items()}
        cuts.write(kernel.module, {name: reasons[before] for before, name in self.names.items() if before in reasons})
        for op in ops:
            with op.location:
                kernel.add(op, self.buffers)
        self._finish(kernel, outside)

    def _run_copy(self, value: Any, memory: Any) -> None:
        why = "the old contents of the memory that a result is for are needed until the result is there: it is copied"
        kernel = self._kernel([ir.StringAttr.get(why)], ELEMENTWISE)
        with self.function.location:
            kernel.copy(self.buffers.place(value), (root_of_part(memory), view_of_type(memory.type, self.function)))
        self._finish(kernel, [])

    def _kernel(self, notes: Sequence[Any], kind: str) -> KernelFunction:
        kernel = KernelFunction(self.module, f"{self.name}_{self.count}")
        self.count += 1
        if notes:
            text = "; ".join(dict.fromkeys(ir.StringAttr(note).value for note in notes))
            kernel.module.attributes[NOTE] = ir.StringAttr.get(text)
        if kind != PRODUCT:
            kernel.attributes[KIND] = ir.StringAttr.get(kind)
        pinned = {PRODUCT: SCHEDULE, KIND_OF_ROWS: ROWS}.get(kind, "")
        if pinned in self.function.attributes:
            kernel.attributes[pinned] = self.function.attributes[pinned]
        return kernel

    def _finish(self, kernel: KernelFunction, outside: list[Any]) -> None:
        roots = {self.buffers.place(value)[0] for value in outside}
        with self.function.location:
            order = kernel.finish(roots, self._type_of_root)
        for root in order:
            role, before = kernel.role_of(root), self.roles.get(root)
            self.roles[root] = role if before in (None, role) or before == "inout" else _both(before, role)
        programs.run(kernel.name, [self._buffer(root) for root in order])

    def _type_of_root(self, root: Any) -> Any:
        return self.values[root].type if root in self.values else _memory_type(root.type)

    def _buffer(self, root: Any) -> Any:
        """The buffer of a root in the program: made when it is first asked for."""
        if root not in self.values:
            if root in list(self.block.arguments):
                return root
            name = getattr(root.owner, "name", "")
            if name == "arith.constant":
                self.values[root] = self._global(root)
            else:
                self.values[root] = dialect("memref").AllocOp(_memory_type(root.type), [], []).result
        return self.values[root]

    def _global(self, constant: Any) -> Any:
        taken = {ir.StringAttr(op.attributes["sym_name"]).value for op in named(self.module, "memref.global")}
        name = next(n for n in (f"constant_{i}" for i in range(len(taken) + 1)) if n not in taken)
        type_ = _memory_type(constant.type)
        with ir.InsertionPoint(self.main), constant.owner.location:
            ir.Operation.create(
                "memref.global",
                attributes={
                    "sym_name": ir.StringAttr.get(name),
                    "sym_visibility": ir.StringAttr.get("private"),
                    "type": ir.TypeAttr.get(type_),
                    "initial_value": constant.owner.attributes["value"],
                    "constant": ir.UnitAttr.get(),
                },
            )
        return dialect("memref").GetGlobalOp(type_, name).result

    def _write_roles(self) -> None:
        count = len(body(self.function).arguments)
        old = argument_attributes(self.function)
        given = self.function.attributes
        of_results = list(given["res_attrs"]) if "res_attrs" in given else []
        attributes: list[dict[str, Any]] = []
        for number, argument in enumerate(self.block.arguments):
            each = dict(old[number]) if number < count else {}
            root = body(self.function).arguments[number] if number < count else argument
            for mark in (COMPLEX, SYMMETRIC) if number >= count and of_results else ():
                if mark in of_results[number - count]:
                    each[mark] = ir.UnitAttr.get()
            role = self.roles.get(root, "in") if number < count else "result"
            each[ROLE] = ir.StringAttr.get(role)
            attributes.append(each)
        set_argument_attributes(self.main, attributes)


def _both(first: str, then: str) -> str:
    """The role of a buffer in a program from its roles in one kernel and a later one."""
    return "out" if first == "out" else "inout" if "out" in then else first


def _memory_type(type_: Any) -> Any:
    return type_ if isinstance(type_, ir.MemRefType) else memref_type(View.dense(type_.shape), type_.element_type)
