"""Finding operations. Everything here returns lists made before anything is changed: handles must not outlive edits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from mlir_gemm.dialect.bindings import ir


def operations(root: Any) -> Iterator[Any]:
    """Every operation nested in `root` (an operation, view or module), parents before children, in program order."""
    for region in root.operation.regions:
        for block in region.blocks:
            for operation in block.operations:
                yield operation
                if operation.operation.regions:
                    yield from operations(operation)


def where(root: Any, wanted: Callable[[Any], bool]) -> list[Any]:
    """The operations nested in `root` for which `wanted` holds, in program order. MLIR walks them, in half the time of
    `operations`."""
    found: list[Any] = []

    def visit(operation: Any) -> Any:
        found.append(operation)
        return _ADVANCE

    root.operation.walk(visit, _PRE_ORDER)
    return [operation.opview for operation in found[1:] if wanted(operation)]


def beginning(root: Any, *prefixes: str) -> list[Any]:
    """The operations nested in `root` whose names begin with one of `prefixes`, in program order."""
    found: list[Any] = []

    def visit(operation: Any) -> Any:
        if operation.name.startswith(prefixes):
            found.append(operation)
        return _ADVANCE

    root.operation.walk(visit, _PRE_ORDER)
    return [operation.opview for operation in found[root.operation.name.startswith(prefixes) :]]


def named(root: Any, *names: str) -> list[Any]:
    """The operations nested in `root` whose names are among `names`, in program order. The bodies of kernels, which are
    most of a module, are left out where only what stands beside them is looked for."""
    found: list[Any] = []
    whole = root.operation.name
    closed = () if whole in _KERNELS else next((closed for beside, closed in _CLOSED if beside.issuperset(names)), ())

    def visit(operation: Any) -> Any:
        name = operation.name
        if name in names:
            found.append(operation)
        return _SKIP if name in closed else _ADVANCE

    root.operation.walk(visit, _PRE_ORDER)
    return [operation.opview for operation in found[whole in names :]]


_ADVANCE, _SKIP, _PRE_ORDER = ir.WalkResult.ADVANCE, ir.WalkResult.SKIP, ir.WalkOrder.PRE_ORDER
_KERNELS = ("gpu.module", "gpu.func", "llvm.func")
_CLOSED = (
    (frozenset(("gpu.module", "gpu.launch_func", "gpu.binary")), _KERNELS),
    (frozenset(("gpu.module", "gpu.func", "llvm.func")), _KERNELS[1:]),
)
"""Operations that stand in no kernel, or in no function of one, and what need not be entered to find them."""


def in_block(block: Any) -> list[Any]:
    """The operations of one block, in order."""
    return list(block.operations)


def body(operation: Any) -> Any:
    """The only block of an operation's first region: a loop's or function's body."""
    return operation.operation.regions[0].blocks[0]


def users(value: Any) -> list[Any]:
    """The operations that use `value`, each once."""
    return list(dict.fromkeys(use.owner.operation for use in value.uses))


def parents(operation: Any) -> Iterator[Any]:
    """The operations around `operation`, innermost first."""
    parent = operation.operation.parent
    while parent is not None:
        yield parent
        parent = parent.operation.parent


def ancestor_in(block: Any, operation: Any) -> Any | None:
    """The operation of `block` that is, or holds, `operation`."""
    current = operation.operation
    while current is not None:
        if current.block == block:
            return current
        current = current.parent.operation if current.parent is not None else None
    return None


def is_within(operation: Any, container: Any) -> bool:
    """Whether `operation` is nested in `container`."""
    return any(parent.operation == container.operation for parent in parents(operation))


def computed_from(value: Any, variable: Any) -> bool:
    """Whether `value` is `variable`, or the result of operations whose operands lead to it."""
    if value == variable:
        return True
    owner = value.owner
    return not hasattr(owner, "operations") and any(computed_from(each, variable) for each in owner.operation.operands)


def defined_within(value: Any, container: Any) -> bool:
    """Whether `value` is made inside `container`: a result, or a block argument (those of its own body count)."""
    owner = value.owner
    operation = owner.owner if hasattr(owner, "operations") else owner  # a Block's owner is its operation
    return (operation.operation == container.operation and hasattr(owner, "operations")) or is_within(
        operation, container
    )
