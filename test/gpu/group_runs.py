"""Runs the cases of `check_groups.py` on the GPU, in one of three modes, and says what is wrong with each."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from random_group_products import GroupCase
from random_products import strides

import mlir_gemm
from mlir_gemm.bench.operands import BOUNDS, TF32_BOUND
from mlir_gemm.spec.element_types import NAMES

MODES = ("exact", "repeat", "invariant", "warps")
GUARD = 4096
"""Elements before and after each argument."""
PATTERN = 77
NAN_F8 = 0x7F
"""The byte that is NaN in f8E4M3FN; PyTorch cannot do everything with 8-bit floats, so bytes are used for them."""
REPEATS = 4
HALF = 0.5
"""How far results of 8-bit floats, integers too, may be off."""
F8_BOUND = 5e-3
_BITS = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}


def run_numbers(
    numbers: Sequence[int], cases: Callable[[int], list[GroupCase]], mode: str, chip: str
) -> Iterator[dict[str, Any]]:
    """Events: `begin` in front of each case; then `number`, `wrong`, `note`, and `fatal` after a fault of the GPU."""
    torch: Any = importlib.import_module("torch")
    for number in numbers:
        yield {"begin": number}
        note = ""
        try:
            wrong, note = _run(cases(number), mode, number, chip, torch)
        except Exception as error:
            wrong = f"{type(error).__name__}: {str(error)[:300]}"
        fatal = bool(wrong) and not _is_alive(torch)
        yield {"number": number, "wrong": wrong, "note": note, **({"fatal": True} if fatal else {})}
        if fatal:
            return


def _is_alive(torch: Any) -> bool:
    try:
        torch.cuda.synchronize()
    except Exception:
        return False
    return True


def _run(cases: list[GroupCase], mode: str, seed: int, chip: str, torch: Any) -> tuple[str | None, str]:
    if mode == "invariant":
        return _invariant(cases, seed, chip, torch)
    return (_repeat if mode == "repeat" else _exact)(cases[0], seed, chip, torch), ""


def compiled(case: GroupCase, chip: str) -> Any:
    return mlir_gemm.compile(case.module(), chip=chip, schedule=case.schedule)


def guarded(torch: Any, shape: list[int], dtype: str, pad: int | None, fill: float) -> tuple[Any, Any]:
    """A flat buffer full of `fill`, and the view of it in which the argument lies, padded rows and all."""
    steps = strides(shape, pad)
    extent = 1 + sum((size - 1) * step for size, step in zip(shape, steps, strict=True))
    kind = getattr(torch, NAMES[dtype])
    size = GUARD + extent + GUARD
    if dtype.startswith("f8"):
        whole = torch.full((size,), NAN_F8, dtype=torch.uint8, device="cuda").view(kind)
    else:
        whole = torch.full((size,), fill, dtype=kind, device="cuda")
    return whole, whole.as_strided(shape, steps, GUARD)


def put(view: Any, values: Any, torch: Any) -> None:
    """The values into an argument."""
    values = values.to(view.dtype)
    if view.element_size() == 1:
        view, values = view.view(torch.uint8), values.view(torch.uint8)
    view.copy_(values)


def inputs(case: GroupCase, torch: Any, seed: int, exact: bool) -> dict[str, Any]:
    """The arguments besides the result, between NaN: small integers, or normal numbers."""
    generator = torch.Generator("cuda").manual_seed(seed)
    made: dict[str, Any] = {}
    for name, shape, dtype in case.arguments:
        poison = float("nan") if not dtype.startswith("i") else PATTERN
        _, view = guarded(torch, shape, dtype, case.product.pad, poison)
        if exact or dtype.startswith("i"):
            values = torch.randint(-2, 3, shape, generator=generator, device="cuda").float()
        else:
            values = torch.randn(shape, generator=generator, device="cuda")
        put(view, values, torch)
        made[name] = view
    return made


def result_of(case: GroupCase, kernel: Any, tensors: dict[str, Any], torch: Any) -> tuple[Any, Any]:
    """The result, and the buffer around it (None for tensors, whose result the runtime makes)."""
    product = case.product
    if product.pad is None:
        return kernel(*tensors.values()), None
    whole, target = guarded(torch, product.shape("mn"), product.out, product.pad, PATTERN)
    target.fill_(float("nan") if product.out[0] != "i" else -1)
    kernel(*tensors.values(), target)
    return target, whole


def reference_of(case: GroupCase, tensors: dict[str, Any], torch: Any) -> Any:
    """In float64, by way of f32 for bytes."""
    wide = {name: each.float() if each.element_size() == 1 else each for name, each in tensors.items()}
    return case.product.reference(wide, torch)


def _exact(case: GroupCase, seed: int, chip: str, torch: Any) -> str | None:
    tensors = inputs(case, torch, seed, True)
    result, whole = result_of(case, compiled(case, chip), tensors, torch)
    torch.cuda.synchronize()
    wanted = reference_of(case, tensors, torch)
    expected = wanted.to(result.dtype)
    # Turned around, so that NaN counts as wrong.
    wrong = ~((result.double() - wanted).abs() <= HALF) if case.kind == "fp8" else ~(result == expected)
    if bool(wrong.any()):
        places = wrong.nonzero()
        first = places[0].tolist()
        found, right = result[tuple(first)].item(), expected[tuple(first)].item()
        return f"{len(places)} of {result.numel()} wrong, first at {first}: {found} != {right}"
    if whole is not None:
        result.fill_(PATTERN)
        if not bool((whole == PATTERN).all()):
            return "the memory around the result was written"
    return None


def bits(tensor: Any, torch: Any) -> Any:
    """What is compared bit by bit: NaN is equal to itself, 0 not to -0."""
    return tensor.contiguous().view(getattr(torch, _BITS[tensor.element_size()]))


def _repeat(case: GroupCase, seed: int, chip: str, torch: Any) -> str | None:
    """Several runs, some beside other work of the GPU, which changes the order in which blocks get on."""
    tensors = inputs(case, torch, seed, False)
    kernel = compiled(case, chip)
    first, _ = result_of(case, kernel, tensors, torch)
    kept = bits(first, torch).clone()
    beside, other = torch.cuda.Stream(), torch.empty(1 << 26, dtype=torch.int8, device="cuda")
    for number in range(REPEATS):
        torch.cuda.synchronize()
        if number % 2:
            with torch.cuda.stream(beside):
                other.zero_()
        result, _ = result_of(case, kernel, tensors, torch)
        torch.cuda.synchronize()
        differ = bits(result, torch) != kept
        if bool(differ.any()):
            return f"run {number + 2} differs from the first in {int(differ.sum())} of {differ.numel()} elements"
    wanted = reference_of(case, tensors, torch)
    error = float((first.double() - wanted).norm() / wanted.norm().clamp(min=1e-300))
    bound = {"tf32": TF32_BOUND, "fp8": F8_BOUND}.get(case.kind, BOUNDS[case.product.out])
    return None if error <= bound else f"relative error {error:.2e}, expected at most {bound:g}"


def _invariant(cases: list[GroupCase], seed: int, chip: str, torch: Any) -> tuple[str | None, str]:
    """The rows that a product with fewer rows has are those of the largest, bit by bit."""
    largest = cases[0]
    tensors = inputs(largest, torch, seed, False)
    all_rows: Any = None
    swapped: list[int] = []
    mmas: set[str] = set()
    for case in cases:
        rows = case.product.m
        own = dict(tensors)
        _, own["A"] = guarded(torch, case.product.shape("mk"), case.element, case.product.pad, PATTERN)
        source = tensors["A"][:rows]
        put(own["A"], source.float() if source.element_size() == 1 else source, torch)
        kernel = compiled(case, chip)
        problem, schedule = kernel.problem, kernel.schedule
        mmas.add(schedule.mma)
        if (problem.m, problem.n) != (case.product.m, case.product.n):
            swapped.append(rows)
        result, _ = result_of(case, kernel, own, torch)
        torch.cuda.synchronize()
        if all_rows is None:
            all_rows = bits(result, torch).clone()
            wanted = reference_of(case, tensors, torch)
            error = float((result.double() - wanted).norm() / wanted.norm().clamp(min=1e-300))
            bound = {"tf32": TF32_BOUND, "fp8": F8_BOUND}.get(case.kind, BOUNDS[case.product.out])
            if not error <= bound:
                return f"relative error {error:.2e}, expected at most {bound:g}", ""
        differ = bits(result, torch) != all_rows[:rows]
        if bool(differ.any()):
            where = f" (A and B swapped for M = {swapped})" if swapped else ""
            return f"M = {rows}: {int(differ.sum())} of {differ.numel()} elements differ{where}", ""
    return None, f"{', '.join(sorted(mmas))}, A and B swapped for {len(swapped)} of {len(cases)} values of M"
