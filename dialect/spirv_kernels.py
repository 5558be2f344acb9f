"""Kernels of their own modules, which upstream's conversion to SPIR-V takes one by one: what the interfaces share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import PassError

BLOCK = "known_block_size"
ENVIRONMENT = "spirv.target_env"
_TYPES = ("f16", "bf16", "f32", "f64", "i1", "i8", "i16", "i32", "i64")


def check(kernel: Any) -> None:
    """Raises PassError for blocks of a size that is not known, and for arguments of types that SPIR-V lacks."""
    if BLOCK not in kernel.attributes:
        raise pass_error(kernel, f"a kernel without {BLOCK}; expected blocks of a constant size")
    for argument in body(kernel).arguments:
        element = getattr(argument.type, "element_type", argument.type)
        if not isinstance(element, ir.IndexType) and str(element) not in _TYPES and not _is_eight(element):
            types = ", ".join(_TYPES)
            raise pass_error(kernel, f"an argument of {argument.type}; expected {types}, or an 8-bit float")


def checked(module: Any) -> Iterator[tuple[Any, Any]]:
    """Every kernel with the gpu.module that holds it, once it is known to be one that SPIR-V can have."""
    for holder in named(module, "gpu.module"):
        for kernel in named(holder, "gpu.func"):
            check(kernel)
            yield holder, kernel


def version_of(pass_name: str, environment: str, versions: Mapping[str, str]) -> str:
    """The version of SPIR-V of an environment. Raises PassError for one that the pass does not know."""
    if environment not in versions:
        raise PassError(f"pass '{pass_name}': environment '{environment}'; expected one of {', '.join(versions)}")
    return versions[environment]


def move(
    module: Any,
    holder: Any,
    kernel: Any,
    environment: Any,
    types: Sequence[Any],
    arguments: Callable[[Sequence[Any]], None],
    marks: Mapping[str, Any],
) -> None:
    """Moves a kernel of the gpu.module `holder` into a gpu.module inside a builtin.module of its own, and leaves a
    declaration in its place for the launch. It has arguments of the given types then; `arguments` is called with them,
    at the insertion point before everything else, and gives the old ones values. `marks` are further attributes."""
    entry, name = body(kernel), ir.StringAttr(kernel.attributes["sym_name"]).value
    with ir.InsertionPoint.at_block_begin(module.body if hasattr(module, "body") else body(module)), kernel.location:
        nested = ir.Operation.create("builtin.module", regions=1)
        nested.regions[0].blocks.append()
    with ir.InsertionPoint(body(nested)), kernel.location:
        attributes = {"sym_name": ir.StringAttr.get(name), ENVIRONMENT: environment}
        inner = ir.Operation.create("gpu.module", attributes=attributes, regions=1)
        inner.regions[0].blocks.append()
    with ir.InsertionPoint(body(inner)), kernel.location:
        made = _function(name, types, kernel, marks)
    block = body(made)
    with ir.InsertionPoint(block), kernel.location:
        arguments(list(block.arguments))
    for operation in in_block(entry):
        block.append(operation)
    for declared in named(holder, "memref.global"):
        body(inner).append(declared)
    kernel.operation.erase()
    holder.operation.attributes[ENVIRONMENT] = environment
    with ir.InsertionPoint(body(holder)), holder.location:
        shell = {
            "sym_name": ir.StringAttr.get(name), "function_type": ir.TypeAttr.get(ir.FunctionType.get([], [])),
            "sym_visibility": ir.StringAttr.get("private"), "gpu.kernel": ir.UnitAttr.get(),
        }  # fmt: skip
        ir.Operation.create("func.func", attributes=shell, regions=1)


def _function(name: str, types: Sequence[Any], kernel: Any, marks: Mapping[str, Any]) -> Any:
    """An empty kernel with arguments of these types."""
    block = list(ir.DenseI32ArrayAttr(kernel.attributes[BLOCK]))
    attributes = {
        "sym_name": ir.StringAttr.get(name),
        "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, [])),
        "gpu.kernel": ir.UnitAttr.get(),
        BLOCK: kernel.attributes[BLOCK],
        "spirv.entry_point_abi": ir.Attribute.parse(f"#spirv.entry_point_abi<workgroup_size = {block}>"),
        **marks,
    }
    made = ir.Operation.create("gpu.func", attributes=attributes, regions=1)
    made.regions[0].blocks.append(*types, arg_locs=[kernel.location] * len(types))
    return made


def as_it_was(old: Any, buffer: Any) -> None:
    """Lets an argument of memory stand for a buffer of one dimension, by a cast that `linearize-memory` follows."""
    cast = ir.Operation.create("builtin.unrealized_conversion_cast", [old.type], [buffer])
    old.replace_all_uses_with(cast.results[0])


def _is_eight(element: Any) -> bool:
    return isinstance(element, ir.FloatType) and element.width == 8


def as_bits(element: Any) -> Any:
    """The type in which buffers hold numbers of a type: integers for those that SPIR-V has no memory of (a byte for i1,
    the bits of bf16 and of 8-bit floats), and for vectors and all others the type itself."""
    if str(element) == "i1" or _is_eight(element):
        return ir.IntegerType.get_signless(8)
    return ir.IntegerType.get_signless(16) if isinstance(element, ir.BF16Type) else element


def buffer_type(element: Any, storage: str, size: int | None = None) -> Any:
    """The type of a buffer of one dimension in a storage class of SPIR-V, of numbers or of vectors of up to four. An i1
    takes a byte; of floats that SPIR-V lacks it holds the bits."""
    element = as_bits(element)
    count = ir.ShapedType.get_dynamic_size() if size is None else size
    space = ir.Attribute.parse(f"#spirv.storage_class<{storage}>")
    return ir.MemRefType.get([count], element, memory_space=space)
