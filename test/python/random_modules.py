"""Random straight-line modules on tensors: contractions, movement, reshapes, casts and elementwise operations mixed."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

SIZES = (1, 2, 3, 4, 6)
LETTERS = "abcdefgh"


@dataclass
class Program:
    """Text that is being written: `values` maps each tensor's name to its sizes and element type."""

    random: random.Random
    lines: list[str] = field(default_factory=list[str])
    arguments: list[str] = field(default_factory=list[str])
    values: dict[str, tuple[tuple[int, ...], str]] = field(default_factory=dict[str, tuple[tuple[int, ...], str]])
    count: int = 0

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def emit(self, text: str, shape: tuple[int, ...], element: str) -> str:
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        self.values[name] = (shape, element)
        return name

    def argument(self, shape: tuple[int, ...], element: str) -> str:
        name = f"%arg{len(self.arguments)}"
        self.arguments.append(f"{name}: {tensor(shape, element)}")
        self.values[name] = (shape, element)
        return name

    def empty(self, shape: tuple[int, ...], element: str) -> str:
        name = self.fresh()
        self.lines.append(f"{name} = tensor.empty() : {tensor(shape, element)}")
        return name

    def pick(self) -> str:
        """One of the last few tensors, of more than one element."""
        return self.random.choice([name for name, (shape, _) in self.values.items() if math.prod(shape) > 1][-4:])


def tensor(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def map_(loops: int, results: list[int]) -> str:
    return f"affine_map<({', '.join(f'd{i}' for i in range(loops))}) -> ({', '.join(f'd{i}' for i in results)})>"


def parallel(loops: int) -> str:
    return ", ".join(['"parallel"'] * loops)


def random_module(seed: int, steps: int = 8) -> str:
    """A module with one function @main on f32 and f16 tensors."""
    program = Program(random.Random(seed))
    rest = [program.random.choice(SIZES) for _ in range(program.random.randint(0, 3))]
    program.argument((program.random.choice(SIZES[1:]), *rest), "f32")
    for _ in range(steps):
        program.random.choice(STEPS)(program)
    written = [name for name in program.values if not name.startswith("%arg")]
    if not written:
        elementwise(program)
        written = [name for name in program.values if not name.startswith("%arg")]
    results = list(dict.fromkeys([written[-1], *program.random.sample(written, k=min(len(written), 2))]))
    if program.random.random() < 0.2:
        results.append(results[0])
    types = ", ".join(tensor(*program.values[name]) for name in results)
    lines = "\n  ".join([*program.lines, f"return {', '.join(results)} : {types}"])
    return f"func.func @main({', '.join(program.arguments)}) -> ({types}) {{\n  {lines}\n}}\n"


def transpose(program: Program) -> None:
    source = program.pick()
    shape, element = program.values[source]
    order = program.random.sample(range(len(shape)), k=len(shape))
    moved = tuple(shape[i] for i in order)
    output = program.empty(moved, element)
    program.emit(
        f"linalg.transpose ins({source} : {tensor(shape, element)}) outs({output} : {tensor(moved, element)}) "
        f"permutation = {order}",
        moved,
        element,
    )


def broadcast(program: Program) -> None:
    source = program.pick()
    shape, element = program.values[source]
    if len(shape) > 3:
        return
    place = program.random.randint(0, len(shape))
    wide = (*shape[:place], program.random.choice(SIZES), *shape[place:])
    output = program.empty(wide, element)
    program.emit(
        f"linalg.broadcast ins({source} : {tensor(shape, element)}) outs({output} : {tensor(wide, element)}) "
        f"dimensions = [{place}]",
        wide,
        element,
    )


def collapse(program: Program) -> None:
    source = program.pick()
    shape, element = program.values[source]
    if len(shape) < 2:
        return
    groups: list[list[int]] = [[0]]
    for i in range(1, len(shape)):
        if program.random.random() < 0.5:
            groups[-1].append(i)
        else:
            groups.append([i])
    coarse = tuple(math.prod(shape[i] for i in group) for group in groups)
    if len(coarse) < len(shape):
        types = f"{tensor(shape, element)} into {tensor(coarse, element)}"
        program.emit(f"tensor.collapse_shape {source} {groups} : {types}", coarse, element)


def expand(program: Program) -> None:
    source = program.pick()
    shape, element = program.values[source]
    fine: list[int] = []
    groups: list[list[int]] = []
    for size in shape:
        factors = [size]
        divisors = [d for d in range(1, size + 1) if size % d == 0]
        if len(fine) + len(shape) < 6 and program.random.random() < 0.6:
            first = program.random.choice(divisors)
            factors = [first, size // first]
        groups.append(list(range(len(fine), len(fine) + len(factors))))
        fine += factors
    if len(fine) > len(shape):
        types = f"{tensor(shape, element)} into {tensor(tuple(fine), element)}"
        program.emit(
            f"tensor.expand_shape {source} {groups} output_shape {fine} : {types}", tuple(fine), element
        )  # fmt: skip


def elementwise(program: Program) -> None:
    source = program.pick()
    shape, element = program.values[source]
    loops = len(shape)
    kept = [i for i in range(loops) if program.random.random() < 0.6]
    others = [name for name, value in program.values.items() if value == (shape, element)]
    if program.random.random() < 0.5 and others:
        other, kept = program.random.choice(others), list(range(loops))
    else:
        other = program.argument(tuple(shape[i] for i in kept), element)
    output = program.empty(shape, element)
    kind = program.random.choice(["arith.addf", "arith.mulf", "arith.maximumf", "arith.subf"])
    identity = map_(loops, list(range(loops)))
    types = f"{tensor(shape, element)}, {tensor(*program.values[other])}"
    program.emit(
        f"linalg.generic {{indexing_maps = [{identity}, {map_(loops, kept)}, {identity}], iterator_types = "
        f"[{parallel(loops)}]}} ins({source}, {other} : {types}) "
        f"outs({output} : {tensor(shape, element)}) {{\n  ^bb0(%x: {element}, %y: {element}, %z: {element}):\n"
        f"    %r = {kind} %x, %y : {element}\n    linalg.yield %r : {element}\n  }} -> {tensor(shape, element)}",
        shape,
        element,
    )


def cast(program: Program) -> None:
    source = program.pick()
    shape, element = program.values[source]
    other, operation = ("f16", "truncf") if element == "f32" else ("f32", "extf")
    output = program.empty(shape, other)
    identity = map_(len(shape), list(range(len(shape))))
    program.emit(
        f"linalg.generic {{indexing_maps = [{identity}, {identity}], iterator_types = "
        f"[{parallel(len(shape))}]}} ins({source} : {tensor(shape, element)}) "
        f"outs({output} : {tensor(shape, other)}) {{\n  ^bb0(%x: {element}, %z: {other}):\n"
        f"    %r = arith.{operation} %x : {element} to {other}\n    linalg.yield %r : {other}\n  }} "
        f"-> {tensor(shape, other)}",
        shape,
        other,
    )


def contract(program: Program) -> None:
    """A contraction over some dimensions of a tensor with an argument, or with a tensor that fits."""
    source = program.pick()
    shape, element = program.values[source]
    letters = LETTERS[: len(shape)]
    sizes = dict(zip(letters, shape, strict=True))
    reduced = {letter for letter in letters if program.random.random() < 0.4} or {letters[-1]}
    batch = {letter for letter in letters if letter not in reduced and program.random.random() < 0.3}
    extra = LETTERS[len(shape) : len(shape) + program.random.randint(0, 2)]
    sizes.update({letter: program.random.choice(SIZES) for letter in extra})
    other = [*reduced, *batch, *extra]
    other.sort()
    program.random.shuffle(other)
    result = sorted({*letters, *extra} - reduced)
    program.random.shuffle(result)
    if len(result) > 4 or math.prod(sizes[letter] for letter in result) == 1:
        return
    loops = sorted(sizes)
    right = program.argument(tuple(sizes[letter] for letter in other), element)
    out_shape = tuple(sizes[letter] for letter in result)
    out_element = program.random.choice([element, "f32"])
    start = program.empty(out_shape, out_element)
    zero = program.fresh()
    program.lines.append(f"{zero} = arith.constant 0.0 : {out_element}")
    out_type = tensor(out_shape, out_element)
    init = (
        program.emit(f"linalg.fill ins({zero} : {out_element}) outs({start} : {out_type}) -> {out_type}", out_shape,
                     out_element)
        if program.random.random() < 0.7
        else program.argument(out_shape, out_element)
    )  # fmt: skip
    maps = [map_(len(loops), [loops.index(letter) for letter in side]) for side in (letters, other, result)]
    types = f"{tensor(shape, element)}, {tensor(*program.values[right])}"
    program.emit(
        f"linalg.contract indexing_maps = [{', '.join(maps)}] ins({source}, {right} : {types}) "
        f"outs({init} : {out_type}) -> {out_type}",
        out_shape,
        out_element,
    )


STEPS = (transpose, broadcast, collapse, expand, elementwise, elementwise, cast, contract, contract, contract)
