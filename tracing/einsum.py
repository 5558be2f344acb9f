"""`einsum` and `matmul`: contractions of arrays, with Python functions of single elements in them."""

from __future__ import annotations

import string
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlir_gemm.errors import InputError
from mlir_gemm.runtime.kernel import Kernel, compile
from mlir_gemm.runtime.sparse import Sparse24
from mlir_gemm.spec.bilinear import AUTO, FEWEST, Bilinear, named
from mlir_gemm.tracing import composite, result_order
from mlir_gemm.tracing.computed import Computed, Diagonal
from mlir_gemm.tracing.contraction import Contraction, Operand
from mlir_gemm.tracing.element_names import element_name

if TYPE_CHECKING:
    from mlir_gemm.spec.schedule import Schedule

_CALLS: dict[Hashable, Any] = {}
"""What has been compiled, by the equation, the functions, the options, and the forms of the arrays."""
_NAMES = ("A", "B")
_MADE = (Computed, Diagonal)
"""Operands that are no arrays of their shape."""
Function = Callable[..., Any]


def einsum(
    equation: str,
    *operands: Any,
    plus: Function | None = None,
    times: Function | None = None,
    prologue: Sequence[Function | None] = (),
    mask: Function | None = None,
    fill: float = 0,
    epilogue: Function | None = None,
    init: Any = None,
    acc: Any = None,
    out: Any = None,
    algebra: str | Bilinear | None = None,
    algorithm: str = AUTO,
    order: str = result_order.ROW_MAJOR,
    chip: str | int | None = None,
    device: str | int = "auto",
    schedule: Schedule | str | Mapping[str, Any] | None = None,
    **extras: tuple[str, Any],
) -> Any:
    """A contraction of one or two arrays by one kernel, `einsum("mk,kn->mn", a, b)`, in any algebra.

    The functions get single elements, and are traced once: arithmetic, comparisons, `abs`, `x.astype(type)`, numpy's
    functions (`numpy.where`, `exp`, `maximum`, ...). After the elements they may have as arguments, by name, indices of
    the equation (the element's position there, a whole number), and arrays that are given as
    `name=("indices", array)`.

        einsum("mk,kn->mn", a, w, epilogue=lambda d, bias: numpy.maximum(d + bias, 0), bias=("n", bias))
        einsum("ik,kj->ij", d, d, plus=numpy.minimum, times=lambda a, b: a + b)      # shortest paths of two steps
        einsum("mk,nk->mn", q, k, mask=lambda m, n: n <= m, fill=-1e9)               # a causal mask

    Args:
        equation: a letter for each dimension of each operand, and after `->` those of the result. All others are
            summed up. Without `->`, the letters that occur once, in alphabetical order.
        operands: NumPy, PyTorch, CuPy or other arrays that a `Kernel` takes, whose dimensions may lie in any order. One
            of two may be a `Sparse24`, with plus and times of numbers. Either may be what `toeplitz`, `hankel`,
            `circulant` or `computed` gives, which is no matrix in memory.
        plus: takes what has been summed up and the next term; a sum where there is none. One of sums, products, minima,
            maxima, and, or, xor: else the sum starts from `init`, and elements meet in the order of the summed letters.
        times: the term from an element of each operand, in the type of the sum; their product where there is none.
        prologue: for each operand what is done to its elements first, None for nothing.
        mask: from positions whether an element of the sum is kept; else it is `fill`.
        epilogue: what becomes of the sum.
        init: an array of the result's shape that sums start from.
        acc: the type of the sum: f32, f64 for such operands, and at least i32 for integers, where it is not given.
        out: the type of the result: that of the operands where these are floating-point numbers and it is not given.
        algebra: how elements of several components are multiplied: `"complex"`, `"dual"`, `"split-complex"`,
            `"quaternion"`, the name of a registered `Bilinear`, or one itself. Operands, result and `init` have one
            dimension more than letters, that of the components, last in memory; an extra array may have it. Functions
            get one component at a time. Or each operand is a tuple of one array for each component, and so is the
            result.
        algorithm: how elements of several components are multiplied. `"auto"` takes fewer multiplications, of sums of
            components (three for complex numbers), where the algebra has such an algorithm, components are f32 or f64
            in full precision, errors grow at most twofold and it is expected to be a tenth faster; `"fewest"` wherever
            it is expected to be faster; `"schoolbook"` never. The error of fewer is relative to whole elements, not to
            components.
        order: `"C"`, the result lies in the order of the equation, or `"K"`, it is a view of what lies in the order of
            the operands where the product then writes rows as it reads them, as `torch.einsum` and NumPy have it.
        chip, device, schedule: as for `compile`.
        extras: other arrays for the functions, each as `("indices", array)`.

    Returns:
        An array of the operands' library.

    Raises:
        InputError: the equation or the shapes do not fit, or a function cannot be traced, with its file and line.
        Whatever `compile` and a call of a kernel raise.
    """
    how = (named(algebra) if isinstance(algebra, str) else algebra, algorithm, order)
    result_order.check(order)
    sparse = any(type(each) is Sparse24 for each in operands)
    if sparse:
        _check_sparse(operands, plain=not (plus or times or any(prologue) or algebra))
        if type(operands[0]) is not Sparse24:  # the instruction's A is the sparse one
            operands, equation = operands[::-1], _turned_sides(equation)
    count = len(operands)
    plain = not sparse and not any(type(each) in _MADE for each in operands)
    planes = any(isinstance(each, tuple) for each in operands)
    if planes:
        operands = tuple(each for operand in operands for each in _planes(operand, how[0]))
    given = [*operands, *(_pair(name, each)[1] for name, each in extras.items())]
    given += [init] if init is not None else []
    functions = (plus, times, *prologue, mask, epilogue)
    options = (chip, device, str(schedule) if schedule is not None else None)
    letters = tuple((name, each[0]) for name, each in extras.items())
    twice = not planes and _is_mirrored(equation, operands)
    if twice:
        given.pop(1)
    key = (
        equation, count, planes, twice, len(prologue), fill, acc, out, how, options, letters,
        *map(_identity, functions),
        *map(_form, given),
    )  # fmt: skip
    try:
        call, known = _CALLS.get(key), True
    except TypeError:  # something that has no hash, such as a list as a function's default
        call, known = None, False
    if call is None:
        what = (plus, times, prologue, mask, fill, epilogue, acc, out)
        given_options = (chip, device, schedule)
        if planes:
            call = _made_of_planes(equation, operands, extras, init, (*what, *how), given_options)
        else:
            call = _made(equation, operands, extras, init, (*what, *how), given_options, twice)
        if known:
            _CALLS[key] = call
    return call(given if plain else _in_memory(given))


def _in_memory(given: Sequence[Any]) -> list[Any]:
    """The arrays that a kernel takes for operands."""
    held = {Sparse24: "packed", Diagonal: "vector"}
    return [getattr(each, held[type(each)]) if type(each) in held else each  # pyright: ignore[reportUnknownArgumentType]
            for each in given if type(each) is not Computed]  # fmt: skip


def _check_sparse(operands: Sequence[Any], plain: bool) -> None:
    if len(operands) != 2 or all(type(each) is Sparse24 for each in operands) or not plain:
        raise InputError("a sparse operand: expected one of two operands, the other an array, and no plus, times, "
                         "prologue or algebra; its dense() has none of these limits")  # fmt: skip


def _turned_sides(equation: str) -> str:
    """The equation with its two operands in the other order."""
    left, arrow, result = equation.partition("->")
    return ",".join(left.split(",")[::-1]) + arrow + result


@dataclass(frozen=True)
class _Call:
    """A compiled contraction."""

    kernel: Kernel
    orders: tuple[tuple[int, ...] | None, ...]
    """For each array the order of its dimensions in memory; None where they lie in order."""
    planes: bool = False
    """Whether the result is a tuple, with an array for each component."""
    axes: tuple[int, ...] | None = None
    """The axes of what the kernel gives, in the order of the result; None where it gives the result."""

    def __call__(self, arrays: Sequence[Any]) -> Any:
        turned = (array if order is None else _turned(array, order)
                  for array, order in zip(arrays, self.orders, strict=True))  # fmt: skip
        result: Any = self.kernel(*turned)
        every: list[Any] = list(result) if self.planes and isinstance(result, tuple) else [result]  # pyright: ignore
        if self.axes is not None:
            every = [_turned(each, self.axes) for each in every]
        return tuple(every) if self.planes else every[0]


def _made(
    equation: str, operands: Sequence[Any], extras: Mapping[str, Any], init: Any, what: tuple[Any, ...],
    options: tuple[Any, ...], twice: bool,
) -> _Call:  # fmt: skip
    sides, result = _sides(equation, len(operands))
    plus, times, prologue, mask, fill, epilogue, acc, out, algebra, algorithm, order_ = what
    taken = [(name, indices, array) for name, indices, array in zip(_NAMES, sides, operands, strict=False)]
    taken += [(name, *_pair(name, given)) for name, given in extras.items()]
    complex_ = any(element_name(each.dtype).startswith("complex") for each in operands if hasattr(each, "dtype"))
    composite.check_algorithm(algebra, algorithm, complex_)
    if complex_ and algebra is not None:
        if algebra != named("complex"):
            raise InputError(f"the algebra '{algebra.name}' of complex arrays; expected real ones with a last "
                             "dimension of components")  # fmt: skip
        algebra = None  # they are multiplied so already
    letter = composite.component_letter([equation, *(each[1] for each in taken)]) if algebra is not None else ""
    if algebra is not None and (plus is not None or times is not None or len(operands) != 2):
        raise InputError(f"the algebra '{algebra.name}' with plus, times or one operand; expected two to multiply")
    described: list[Operand] = []
    orders: list[tuple[int, ...] | None] = []
    for number, (name, letters, array) in enumerate(taken):
        components = number < len(operands) or len(getattr(array, "shape", ())) == len(letters) + 1
        indices = letters + letter if components else letters
        made = type(array) in _MADE
        if made and algebra is not None:
            raise InputError(f"{name} is no array, with the algebra '{algebra.name}'; expected one")
        order = None if made else _order(array, indices, name)
        if letter and components and order is not None and order[-1] != len(letters):
            raise InputError(f"the components of {name} do not lie side by side; expected an array whose last "
                             "dimension is the last in memory, or a tuple of an array for each component")  # fmt: skip
        if type(array) is not Computed:
            orders.append(order)
        turned = array if order is None else _turned(array, order)
        letters = indices if order is None else "".join(indices[axis] for axis in order)
        same = _NAMES[0] if twice and len(described) == 1 else ""
        described.append(Operand(name, letters, tuple(turned.shape), element_name(turned.dtype), same,
                                 type(array) is Sparse24, getattr(array, "index", "") if made else "",
                                 array.function if type(array) is Computed else None))  # fmt: skip
    count, start = len(operands), None
    wanted, result = result, result + letter
    if order_ == result_order.KEPT and init is None and not twice:
        result = result_order.of(described[:count], wanted) + letter
    if init is not None:
        start = Operand("init", result, tuple(init.shape), element_name(init.dtype))
        orders.append(None)
    whole = Contraction(
        tuple(described[:count]), result, tuple(described[count:]), start, plus, times, tuple(prologue), mask, fill,
        epilogue, _name(acc), _name(out), composite.attribute(algebra, algorithm, complex_), letter,
    )  # fmt: skip
    if twice:
        orders.pop(1)
    return _Call(compile(whole.module(), *options), tuple(orders), axes=result_order.axes(result, wanted + letter))


def _planes(operand: Any, algebra: Bilinear | None) -> tuple[Any, ...]:
    """An array for each component."""
    if algebra is None or not isinstance(operand, tuple) or len(operand) != algebra.components:  # pyright: ignore[reportUnknownArgumentType]
        wanted = "algebra= and " if algebra is None else ""
        raise InputError(f"operands as tuples: expected {wanted}for each a tuple of an array for each component")
    return operand  # pyright: ignore[reportUnknownVariableType]


def _made_of_planes(
    equation: str, operands: Sequence[Any], extras: Mapping[str, Any], init: Any, what: tuple[Any, ...],
    options: tuple[Any, ...],
) -> _Call:  # fmt: skip
    """A call of operands with an array for each component."""
    *functions, _, epilogue, acc, out, algebra, algorithm, order_ = what
    if any((*functions, epilogue, extras, init is not None, algorithm == FEWEST)):
        raise InputError("operands as tuples of components: expected no functions, other arrays, init or algorithm; "
                         "lay components side by side for these")  # fmt: skip
    count: int = algebra.components
    sides, result = _sides(equation, 2)
    described: list[Operand] = []
    orders: list[tuple[int, ...] | None] = []
    for number, array in enumerate(operands):
        name, indices = _NAMES[number // count], sides[number // count]
        order = _order(array, indices, f"{name}[{number % count}]")
        turned = array if order is None else _turned(array, order)
        letters = indices if order is None else "".join(indices[axis] for axis in order)
        found = Operand(name, letters, tuple(turned.shape), element_name(turned.dtype))
        if number % count and found != described[-1]:
            raise InputError(f"the components of {name} differ in shape, type or order")
        described += [] if number % count else [found]
        orders.append(order)
    if described[0].element != described[1].element:
        raise InputError(f"components of {described[0].element} and {described[1].element}; expected one type")
    wanted = result
    if order_ == result_order.KEPT:
        result = result_order.of(described, wanted)
    whole = Contraction(tuple(described), result, acc=_name(acc), out=_name(out))  # it looks at letters and sizes
    text = composite.planes_module(algebra, described, result, whole.acc, whole.out, whole.sizes)
    return _Call(compile(text, *options), tuple(orders), planes=True, axes=result_order.axes(result, wanted))


def _is_mirrored(equation: str, operands: Sequence[Any]) -> bool:
    """Whether the second operand is the array of the first, so that the result equals its transpose: then the kernel
    has one argument for both, and computes half of the result."""
    if len(operands) != 2 or _start(operands[0]) is None or _start(operands[0]) != _start(operands[1]):
        return False  # every call comes here, and few go on
    first, second = (_lies(each) for each in operands)
    if first is None or second is None or first[0] != second[0]:
        return False
    sides, result = _sides(equation, len(operands))
    if len(result) < 2 or any(len(side) != len(each[1]) for side, each in zip(sides, (first, second), strict=True)):
        return False
    turned = str.maketrans({result[-1]: result[-2], result[-2]: result[-1]})
    one, two = (
        {letter.translate(turns): place for letter, place in zip(side, each[1], strict=True)}
        for side, each, turns in zip(sides, (first, second), (turned, {}), strict=True)
    )
    return one == two and not {result[-1], result[-2]} <= set(sides[0])


def _start(array: Any) -> Any:
    """Where an array's memory starts; None where it does not say."""
    if hasattr(array, "data_ptr"):
        return array.data_ptr()
    told = getattr(array, "__array_interface__", None) or getattr(array, "__cuda_array_interface__", None)
    return told["data"][0] if told and told["data"] else None


def _lies(array: Any) -> tuple[Any, tuple[tuple[int, int], ...]] | None:
    """The type of an array's elements, and size and step of each dimension; None where it does not say, and of one that
    is conjugated or negated lazily, whose memory holds other numbers."""
    steps, dtype = _steps(array), getattr(array, "dtype", None)
    lazy = hasattr(array, "data_ptr") and any(getattr(array, name, bool)() for name in ("is_conj", "is_neg"))
    if lazy or steps is None or dtype is None:
        return None
    return dtype, tuple(zip(array.shape, steps, strict=True))


def _pair(name: str, given: Any) -> tuple[str, Any]:
    if type(given) is tuple and len(given) == 2 and type(given[0]) is str:  # pyright: ignore[reportUnknownArgumentType]
        return given  # pyright: ignore[reportUnknownVariableType]
    raise InputError(f'{name}={type(given).__name__}: expected ("indices", array), or an option of einsum')  # pyright: ignore[reportUnknownArgumentType]


def _form(array: Any) -> Hashable:
    """What a kernel depends on in an array: its sizes, type and the order of its dimensions."""
    if type(array) is Diagonal:
        return array.form
    if type(array) is Computed:
        return Computed, array.shape, array.dtype, _identity(array.function)
    steps = _steps(array)
    return array.__class__, getattr(array, "shape", None), getattr(array, "dtype", None), steps


def matmul(a: Any, b: Any, **options: Any) -> Any:
    """The matrix product of two arrays, [..., m, k] and [..., k, n], with the options of `einsum`.

    Dimensions before the last two are batches, of both arrays or of one. Functions know the last ones as `m`, `k` and
    `n`."""
    letters = [letter for letter in string.ascii_lowercase if letter not in "mkn"]
    batches = [len(each.shape) - 2 for each in (a, b)]
    if min(batches) < 0:
        raise InputError(f"matmul of arrays of {' and '.join(str(2 + each) for each in batches)} dimensions; expected "
                         "at least 2: make a vector a matrix of one row or column")  # fmt: skip
    batch = "".join(letters[: max(batches)])
    left, right = (batch[max(batches) - each :] for each in batches)
    return einsum(f"{left}mk,{right}kn->{batch}mn", a, b, **options)


def _sides(equation: str, count: int) -> tuple[list[str], str]:
    """The indices of each operand, and of the result."""
    text = equation.replace(" ", "")
    left, arrow, result = text.partition("->")
    sides = left.split(",")
    known = set(string.ascii_letters + ",->")
    wrong = [letter for letter in text if letter not in known]
    if wrong:
        raise InputError(f"einsum '{equation}': '{wrong[0]}' is not a letter; expected a letter for each dimension")
    if len(sides) != count or len(sides) > len(_NAMES):
        raise InputError(f"einsum '{equation}' of {count} arrays; expected one or two, as many as the equation "
                         "has: contract more two at a time")  # fmt: skip
    if not arrow:
        result = "".join(sorted(letter for letter in set(left) - {","} if left.count(letter) == 1))
    return sides, result


def _steps(array: Any) -> Any:
    """The strides of an array, in elements or bytes; None where it does not say."""
    return array.stride() if hasattr(array, "stride") else getattr(array, "strides", None)


def _order(array: Any, indices: str, name: str) -> tuple[int, ...] | None:
    """The order in which an array's dimensions lie in memory, so that a transposed one is read where it lies; None
    where that is their own."""
    if not hasattr(array, "shape") or not hasattr(array, "dtype"):
        raise InputError(f"{name} is a {type(array).__name__}; expected an array")
    steps = _steps(array)
    if steps is None or len(steps) != len(indices):
        return None
    order = tuple(sorted(range(len(steps)), key=lambda axis: (-steps[axis], axis)))
    return None if order == tuple(range(len(steps))) else order


def _turned(array: Any, order: Sequence[int]) -> Any:
    return array.permute(order) if hasattr(array, "permute") else array.transpose(order)


def _name(dtype: Any) -> str:
    return "" if dtype is None else element_name(dtype)


def _identity(function: Function | None) -> Hashable:
    """What tells whether two functions are the same: their code and what it refers to."""
    code = getattr(function, "__code__", None)
    if function is None or code is None:
        return function
    cells = tuple(cell.cell_contents for cell in getattr(function, "__closure__", None) or ())
    values = (cells, getattr(function, "__defaults__", None))
    try:
        hash(values)
    except TypeError:
        return function
    return code, values
