"""Modules of kernels in a program: making them."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining import programs
from mlir_gemm.dialect.outlining.kernel_functions import new_function
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.spec.attributes import CHIP, KIND, NOTE, ROLE, ROWS, SCHEDULE, STAGE

_OF_MODULES = (STAGE, CHIP)
"""Attributes of a module that hold for its kernels' modules too."""
_OF_KERNELS = (KIND, SCHEDULE, ROWS)
"""Attributes of a function that say something of it as a kernel."""


def name_of(inner: Any) -> str:
    """The name of a kernel's module."""
    return ir.StringAttr(inner.operation.attributes["sym_name"]).value


def new_module(name: str, beside: Any, note: str) -> Any:
    """An empty module for a kernel, before another one, at the same stage."""
    attributes = {key: value for key, value in attributes_of(beside).items() if key in _OF_MODULES}
    attributes |= {"sym_name": ir.StringAttr.get(name)}
    if note:
        attributes[NOTE] = ir.StringAttr.get(note)
    with ir.InsertionPoint(beside):
        made = ir.Operation.create("builtin.module", attributes=attributes, regions=1)
    made.regions[0].blocks.append()
    return made


def add_note(inner: Any, text: str) -> None:
    """Adds to the note on a kernel, for readers."""
    attributes = inner.operation.attributes
    known = ir.StringAttr(attributes[NOTE]).value if NOTE in attributes else ""
    attributes[NOTE] = ir.StringAttr.get(f"{known}; {text}" if known else text)


def unused_name(outer: Any, wanted: str) -> str:
    """A name that nothing in a module has: the wanted one, perhaps with a number."""
    taken = {ir.StringAttr(op.attributes["sym_name"]).value
             for op in in_block(body(outer)) if "sym_name" in op.attributes}  # fmt: skip
    return next(name for name in [wanted, *(f"{wanted}{n}" for n in range(len(taken)))] if name not in taken)


def find_product(module: Any, name: str) -> tuple[Any, Any]:
    """A module, and that of the kernel of this name in it, or of its only product where the name is empty: the same one
    where the module is one kernel. Raises PassError where there is no such kernel."""
    modules = programs.kernel_modules(module)
    if not modules:
        own = ir.StringAttr(programs.function_of(module).attributes["sym_name"]).value
        if name not in ("", own):
            raise pass_error(module, f"kernel '{name}' is not in the module, which is one kernel, '{own}'")
        return module, module
    products = [each for each, inner in modules.items() if _is_product(programs.function_of(inner))]
    if not name and len(products) == 1:
        name = products[0]
    if name not in modules:
        raise pass_error(
            module, f"kernel '{name}' is not in the program; its products are {', '.join(products) or 'none'}"
        )
    return module, modules[name]


def _is_product(function: Any) -> bool:
    return any(product_of(each) is not None for each in in_block(body(function)))


def nest(outer: Any) -> Any:
    """Makes a program of a module that is one kernel, the reverse of `inline-kernel`; the module of that kernel."""
    function = programs.function_of(outer)
    name = ir.StringAttr(function.attributes["sym_name"]).value
    attributes = argument_attributes(function)
    types = [argument.type for argument in body(function).arguments]
    places = [argument.location for argument in body(function).arguments]
    with function.location:
        main, block = new_function(name, types, ir.InsertionPoint(function), places)
        inner_name = unused_name(outer, f"{name}_0")
        made = new_module(inner_name, function, "")
        for key, attribute in attributes_of(outer).items():
            if key in (*_OF_MODULES, NOTE):
                made.attributes[key] = attribute
        if NOTE in outer.operation.attributes:
            del outer.operation.attributes[NOTE]
        with ir.InsertionPoint(block):
            programs.run(inner_name, list(block.arguments))
            dialect("func").ReturnOp([])
    set_argument_attributes(main, attributes)
    for key, attribute in attributes_of(function).items():
        if key.startswith("tile.") and key not in _OF_KERNELS:
            main.attributes[key] = attribute
    function.attributes["sym_name"] = ir.StringAttr.get(inner_name)
    set_argument_attributes(function, [{ROLE: _role_in_kernel(each)} for each in attributes])
    made.regions[0].blocks[0].append(function.operation)
    return made


def _role_in_kernel(attributes: dict[str, Any]) -> Any:
    role = ir.StringAttr(attributes[ROLE]).value if ROLE in attributes else "inout"
    return ir.StringAttr.get("out" if role == "result" else role)
