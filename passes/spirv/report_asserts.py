"""report-asserts: assertions of kernels are reported to the host, and what follows a failed one touches no memory.

Expects kernels after `linearize-memory`, whose accesses have one index. A kernel with cf.assert takes one more buffer,
of one i32, as its last argument: where an assertion fails the number of its message is stored there, counted from 1.
Neither Vulkan nor OpenCL can end a kernel from inside. So after an assertion, in its block and in those within it, a
load is of element 0 where it failed, and a store is left out; barriers stay. The messages stand in `tile.asserts` of
the declaration that `vulkan-interface` or `opencl-interface` left for the launch. Leaves no cf.assert. Kernels without
one stay as they are.

Refuses a `storage`, the class of the buffer, other than StorageBuffer and CrossWorkgroup.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.spirv_kernels import buffer_type
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import ASSERTS

STORAGES = ("StorageBuffer", "CrossWorkgroup")
_BINDINGS = "arg_attrs"
_TYPE = "function_type"


@dataclass(frozen=True)
class ReportAsserts(Pass):
    """Report assertions to the host."""

    name: ClassVar[str] = "report-asserts"
    storage: str = "StorageBuffer"
    """The storage class of the buffer: `StorageBuffer` for Vulkan, `CrossWorkgroup` for OpenCL."""

    def __post_init__(self) -> None:
        if self.storage not in STORAGES:
            raise PassError(f"pass '{self}': storage must be one of {', '.join(STORAGES)}")

    def run(self, module: Any) -> None:
        _ = module.context.dialects["spirv"]  # loads it
        for kernel in named(module, "gpu.func"):
            asserts = [each.operation for each in named(kernel, "cf.assert")]
            if not asserts:
                continue
            messages = list(dict.fromkeys(_message(each) for each in asserts))
            told = _told(kernel, self.storage)
            for each in asserts:
                _report(each, told, messages.index(_message(each)) + 1)
            _mark(module, ir.StringAttr(kernel.attributes["sym_name"]).value, messages)


def _message(check: Any) -> str:
    return ir.StringAttr(check.attributes["msg"]).value


def _told(kernel: Any, storage: str) -> Any:
    """The kernel's new last argument."""
    type_ = buffer_type(ir.IntegerType.get_signless(32), storage)
    bound = sum("StorageBuffer" in str(each.type) for each in body(kernel).arguments)
    argument = body(kernel).add_argument(type_, kernel.location)
    types = [each.type for each in body(kernel).arguments]
    attributes = kernel.operation.attributes
    attributes[_TYPE] = ir.TypeAttr.get(ir.FunctionType.get(types, []))
    if _BINDINGS in attributes:  # of Vulkan, by whose numbers buffers are bound
        own = ir.Attribute.parse(f"#spirv.interface_var_abi<(0, {bound})>")
        others = list(ir.ArrayAttr(attributes[_BINDINGS]))
        attributes[_BINDINGS] = ir.ArrayAttr.get([*others, ir.DictAttr.get({"spirv.interface_var_abi": own})])
    return argument


def _report(check: Any, told: Any, number: int) -> None:
    """A branch in which the message's number is stored, and accesses after the check that go by it."""
    arith, memref, scf = dialect("arith"), dialect("memref"), dialect("scf")
    holds = check.operands[0]
    after = _after(check)
    with ir.InsertionPoint(check), check.location:
        one = arith.ConstantOp(ir.IntegerType.get_signless(1), 1).result
        branch = scf.IfOp(arith.XOrIOp(holds, one).result)
        with ir.InsertionPoint(branch.then_block):
            value = arith.ConstantOp(ir.IntegerType.get_signless(32), number).result
            memref.StoreOp(value, told, [constants.index(0)])
            scf.YieldOp([])
        zero = constants.index(0)
    for operation in after:
        for access in _accesses(operation):
            with ir.InsertionPoint(access), access.location:
                if access.name == "memref.load":
                    access.operands[1] = arith.SelectOp(holds, access.operands[1], zero).result
                else:
                    guarded = scf.IfOp(holds)
                    with ir.InsertionPoint(guarded.then_block):
                        memref.StoreOp(access.operands[0], access.operands[1], [access.operands[2]])
                        scf.YieldOp([])
                    access.erase()
    check.erase()


def _after(check: Any) -> list[Any]:
    """The operations after one in its block."""
    operations = [each.operation for each in in_block(check.block)]
    return operations[next(n for n, each in enumerate(operations) if each == check) + 1 :]


def _accesses(operation: Any) -> list[Any]:
    if operation.name in ("memref.load", "memref.store"):
        return [operation]
    return [each.operation for each in named(operation, "memref.load", "memref.store")] if operation.regions else []


def _mark(module: Any, name: str, messages: list[str]) -> None:
    """Writes the messages to the declaration that the launch finds."""
    found = [each for each in named(module, "func.func") if ir.StringAttr(each.attributes["sym_name"]).value == name]
    for each in found:
        each.operation.attributes[ASSERTS] = ir.ArrayAttr.get([ir.StringAttr.get(text) for text in messages])
