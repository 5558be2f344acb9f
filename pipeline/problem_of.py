"""Deriving the problem from the IR after `import`."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod
from typing import Any

from mlir_gemm.dialect import composites, im2col, planes, windows
from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import products, structured
from mlir_gemm.dialect.linalg.products import Factor, Product, the_product, the_products
from mlir_gemm.dialect.outlining import padding
from mlir_gemm.dialect.outlining.views import View, view_of_type
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.spec import algebra
from mlir_gemm.spec.attributes import LAID_OUT, MASKED, SPARSE, SYMMETRIC, ZEROS
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.problem import MATRIX_OPERATIONS, Problem

WIDEST = 128
"""Bits of the widest access."""
WHOLE = 128


def problem_of(function: Any) -> Problem:
    """The problem of a kernel: a function on memrefs with one product and elementwise operations around it, or with
    several products of one A.

    Raises InputError when there is not exactly one product, or others than those.
    """
    product = the_product(function)
    sizes = structured.sizes_of(product.generic)
    batch, m, n, k = (prod(sizes[loop] for loop in loops) for loops in (product.batch, product.m, product.n, product.k))
    stores = _stored_outside(function)
    elements = [str(memory.type.element_type) for memory in stores]
    acc = str(product.accumulator.type.element_type)
    result = stores[-1] if stores else product.accumulator
    a_order, b_order = _order(product, product.a, "m", "k"), _order(product, product.b, "k", "n")
    behind = _epilogue(function, product)
    matrices = len(the_products(function))
    work = sum(map(_instructions, behind)) + MATRIX_OPERATIONS * sum(_matrices(function, each) for each in behind)
    return Problem(
        m, matrices * n, k,
        a=products.element_of(product.a),
        b=products.element_of(product.b),
        acc=acc,
        out=elements[-1] if elements else acc,
        reads_c=not _filled_before(function, product),
        extra_bytes=sum(ELEMENT_BYTES.get(element, 4) for element in elements[:-1]),
        batch=batch,
        a_order=a_order,
        b_order=b_order,
        a_vector=_vector_of(product, product.a, _neighbours(product, a_order)),
        b_vector=_vector_of(product, product.b, _neighbours(product, b_order)),
        out_vector=_result_vector(result),
        a_memory=_memory(product, product.a) or _padded(product, 0),
        b_memory=_memory(product, product.b) or _padded(product, 1),
        unsigned=product.unsigned,
        out_order=_result_order(function, result),
        epilogue_ops=-(-work // matrices),
        algebra=str(product.algebra) if product.algebra else "",
        epilogue_matrices=sum(_matrices(function, generic) for generic in behind),
        symmetric=SYMMETRIC in function.attributes,
        result_mask=ir.StringAttr(function.attributes[MASKED]).value if MASKED in function.attributes else "",
        zeros=ir.StringAttr(function.attributes[ZEROS]).value if ZEROS in function.attributes else "",
        sparse=_sparse(function, product),
        composite=_components(product, product.b),
        planes="".join(name for name, memory in (("a", _memory_of(product, product.a)),
                                                 ("b", _memory_of(product, product.b)), ("d", result))
                       if memory is not None and _in_planes(memory)),
        laid_out=_laid_out(function, product),
        a_channels=_channels(product, product.a),
        b_channels=_channels(product, product.b),
        epilogue_vector=min((_epilogue_vector(function, generic) for generic in behind), default=WIDEST),
        epilogue_types=" ".join(each for generic in behind for each in _matrix_types(function, generic)),
        b_matrices=matrices if matrices > 1 else 0,
    )  # fmt: skip


def _sparse(function: Any, product: Product) -> str:
    """Which operand is a 2:4 sparse matrix."""
    marked = [argument for argument, each in zip(body(function).arguments, argument_attributes(function), strict=True)
              if SPARSE in each]  # fmt: skip
    sides = {"a": product.a, "b": product.b}
    return next((name for name, factor in sides.items()
                 if any(product.generic.operands[number] in marked for number in factor.operands)), "")  # fmt: skip


def _laid_out(function: Any, product: Product) -> str:
    """What elements a kernel in front lays B out of."""
    memory = product.generic.operands[product.b.operands[0]] if product.b.operands else None
    given = zip(body(function).arguments, argument_attributes(function), strict=True)
    found = (ir.StringAttr(each[LAID_OUT]).value for argument, each in given if LAID_OUT in each and argument == memory)
    return next(found, "")


def _components(product: Product, factor: Factor) -> int:
    """Components of an operand's elements, of which the product makes its numbers; 0 for plain numbers."""
    view = composites.viewed(product.generic.operands[factor.operands[0]]) if factor.operands else None
    return 0 if view is None else len(composites.table_of(view))


def _memory_of(product: Product, factor: Factor) -> Any | None:
    """The first operand of a factor."""
    return product.generic.operands[factor.operands[0]] if factor.operands else None


def _in_planes(memory: Any) -> bool:
    """Whether components of elements lie in memory of their own."""
    view = composites.viewed(memory)
    return planes.is_planes(memory if view is None else view.operands[0])


def _outside(function: Any) -> list[Any]:
    """The function's arguments, and what it sees planes among them as."""
    views = [op.operation.results[0] for op in in_block(body(function)) if op.operation.name == planes.NAME]
    return [*body(function).arguments, *views]


def _loops(product: Product, number: int) -> list[int]:
    """The loop that each dimension of an operand runs along."""
    return [expression.position for expression in product.generic.maps[number].results]


def _matrix(product: Product, factor: Factor) -> tuple[View, list[int]] | None:
    """The operand with the most dimensions of a factor: how it lies, and the loop of each dimension."""
    if not factor.operands:
        return None
    number = factor.operands[0]
    return view_of_type(product.generic.operands[number].type, product.op), _loops(product, number)


def _channels(product: Product, factor: Factor) -> int:
    """Neighbours of an operand that is read by windows; 0 for another."""
    memory = product.generic.operands[factor.operands[0]] if factor.operands else None
    return im2col.channels_of(memory) if memory is not None and windows.is_windows(memory) else 0


def _order(product: Product, factor: Factor, rows: str, columns: str) -> str:
    """`mk` or `km`, `kn` or `nk`: the dimension with the smaller steps comes last. Where one of them has no extent, the
    dimensions' own order tells."""
    matrix = _matrix(product, factor)
    if matrix is None:
        return rows + columns
    parts = {"m": product.m, "n": product.n, "k": product.k}
    steps: dict[str, tuple[int, int]] = {}
    view, loops = matrix
    real = all(size > 1 for size, loop in zip(view.shape, loops, strict=True) if loop not in product.batch)
    for axis, loop in enumerate(loops):
        for name in (rows, columns):
            if loop in parts[name]:
                steps[name] = (view.strides[axis] if real else 0, -axis)
    swapped = len(steps) == 2 and steps[rows] < steps[columns]
    return columns + rows if swapped else rows + columns


def _neighbours(product: Product, order: str) -> Sequence[int]:
    """The loops that neighbours lie along: rows of memory are along these, also where they have one element each."""
    return {"m": product.m, "n": product.n, "k": product.k}[order[-1]]


def _vector_of(product: Product, factor: Factor, loops: Sequence[int]) -> int:
    """Bits of the widest access to a factor along its neighbours."""
    matrix = _matrix(product, factor)
    if matrix is None:
        return WIDEST
    memory = product.generic.operands[factor.operands[0]]
    element = str(memory.type.element_type)
    if windows.is_windows(memory):
        common = windows.divisor(memory) * 8 * ELEMENT_BYTES.get(element, 4)
        return min(WIDEST, common & -common)
    view, along = matrix
    function = product.op.operation.parent
    arguments = list(body(function).arguments)
    buffer = padding.buffer_shape(function, arguments.index(memory)) if memory in arguments else None
    if buffer is not None:  # what lies beyond the ends of rows may be read
        view = View.dense(buffer)
    return _vector(view, element, [axis for axis, loop in enumerate(along) if loop in loops])


def _result_order(function: Any, memory: Any) -> str:
    """`nm` where the rows of D's memory run along the second last of the loops that write it, as they do once the sides
    have changed places; else `mn`."""
    writers = [op for op in in_block(body(function)) if structured.is_generic(op) and memory in _targets(op)]
    if not writers:
        return "mn"
    generic = structured.read(writers[-1])
    parallel = [loop for loop, free in enumerate(generic.parallel) if free]
    *_, last = generic.maps[generic.operands.index(memory)].results
    down = len(parallel) > 1 and getattr(last, "position", -1) == parallel[-2]
    return "nm" if down else "mn"


def _result_vector(memory: Any) -> int:
    """Bits of the widest access to D along its rows."""
    view = view_of_type(memory.type, memory.owner)
    return _vector(view, str(memory.type.element_type), [len(view.shape) - 1])


def _vector(view: View, element: str, axes: Sequence[int]) -> int:
    """The largest power of two of bits, 128 at most, that divides every step and ends with every row.

    Rows run along the one of `axes` whose elements are neighbours; one element where there is none.
    """
    bits = 8 * ELEMENT_BYTES.get(element, 4)
    rows = [axis for axis in axes if view.strides[axis] == 1 and view.shape[axis] > 1]
    if not rows:
        return bits
    row = rows[-1]
    steps = [s for axis, (n, s) in enumerate(zip(view.shape, view.strides, strict=True)) if n > 1 and axis != row]
    common = gcd(view.shape[row], view.offset, *steps) * bits
    return max(bits, min(WIDEST, common & -common))


def _memory(product: Product, factor: Factor) -> str:
    """The element type in memory of a factor that is computed from it; empty for one that is only extended."""
    if factor.plain or not factor.operands:
        return ""
    return str(product.generic.operands[factor.operands[0]].type.element_type)


def _padded(product: Product, number: int) -> str:
    """The element type of operand 0 or 1 where it is computed only because it must be padded with something other than
    zeros beyond the end of k; empty where it is copied. Tiles of a power of two up to WHOLE bytes end with k."""
    if product.algebra is None:
        return ""
    types = [products.element_of(side) for side in (product.a, product.b)]
    pads = algebra.padding(str(product.algebra), *types, str(product.accumulator.type.element_type))
    k = prod(structured.sizes_of(product.generic)[loop] for loop in product.k)
    whole = k > 0 and k * ELEMENT_BYTES[types[number]] % WHOLE == 0
    return "" if pads is None or pads[number] == 0 or whole else types[number]


def _stored_outside(function: Any) -> list[Any]:
    """The function's arguments that some operation writes, in the order of the last writes."""
    written: dict[Any, None] = {}
    outside = _outside(function)
    for operation in in_block(body(function)):
        for memory in _targets(operation):
            if memory in outside:
                written.pop(memory, None)
                written[memory] = None
    return list(written)


def _targets(operation: Any) -> list[Any]:
    """The memrefs that an operation writes."""
    if structured.is_generic(operation):
        return list(structured.read(operation).outputs)
    return [operation.operation.operands[1]] if operation.operation.name == "linalg.fill" else []


_CASTS = ("arith.constant", "arith.extf", "arith.truncf", "linalg.yield")
_FUNCTION = 8
"""Instructions of a function or a division, about."""


def _epilogue(function: Any, product: Product) -> list[structured.Generic]:
    """The elementwise operations after the product."""
    found, behind = list[structured.Generic](), False
    for operation in in_block(body(function)):
        if operation.operation == product.op:
            behind = True
        elif behind and structured.is_generic(operation):
            found.append(structured.read(operation))
    return [generic for generic in found if generic.elementwise]


def _instructions(generic: structured.Generic) -> int:
    """Instructions of an operation for each element, without what reads matrices."""
    names = [each.operation.name for each in in_block(generic.body)]
    slow = sum(name.startswith("math.") or name == "arith.divf" for name in names)
    return _FUNCTION * slow + sum(name not in _CASTS for name in names) - slow


def _matrices(function: Any, generic: structured.Generic) -> int:
    """Matrices from memory that an operation reads."""
    arguments, loops = list(body(function).arguments), len(generic.parallel)
    inputs = zip(generic.inputs, generic.maps, strict=False)
    return sum(map_.n_symbols == 0 and len(map_.results) == loops and value in arguments for value, map_ in inputs)


def _matrix_types(function: Any, generic: structured.Generic) -> list[str]:
    """Element types of the matrices from memory that run along the rows and columns of what an operation writes, in
    whole bytes and no planes."""
    arguments, parallel = list(body(function).arguments), [n for n, free in enumerate(generic.parallel) if free]
    found = list[str]()
    for value, map_ in zip(generic.inputs, generic.maps, strict=False):
        along = {getattr(each, "position", -1) for each in map_.results}
        if map_.n_symbols or not along.issuperset(parallel[-2:]) or value not in arguments or planes.is_planes(value):
            continue
        element = str(value.type.element_type)
        if element in ELEMENT_BYTES and value.type.element_type.width % 8 == 0:
            found.append(element)
    return found


def _epilogue_vector(function: Any, generic: structured.Generic) -> int:
    """Bits of the widest access along the rows of all matrices of an operation; 0 where the rows of one run across
    those of what it writes last."""
    arguments = _outside(function)
    rows, width = list(generic.maps[len(generic.operands) - 1].results)[-1:], WIDEST
    for memory, map_ in zip(generic.operands, generic.maps, strict=True):
        if map_.n_symbols or len(map_.results) != len(generic.parallel) or memory not in arguments:
            continue
        view = view_of_type(memory.type, memory.owner)
        if list(map_.results)[-1:] != rows:
            return 0
        width = min(width, _vector(view, str(memory.type.element_type), [len(view.shape) - 1]))
    return width


def _filled_before(function: Any, product: Product) -> bool:
    """Whether the accumulator is filled with a constant just before the product."""
    filled = False
    for operation in in_block(body(function)):
        if operation.operation == product.op:
            return filled
        if product.accumulator in _targets(operation):
            filled = operation.operation.name == "linalg.fill"
    return filled
