"""Products of warp tiles as mma.sync: the instructions by type, their fragments, and the order in which they stand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import users
from mlir_gemm.lowering import assembly
from mlir_gemm.lowering.access import register_of
from mlir_gemm.lowering.fragments import Fragments
from mlir_gemm.lowering.layouts import SYNC, SYNC_DOUBLE, Layout
from mlir_gemm.lowering.operands import ROW_BYTES, ROWS, LaneTerms, Operand

SHAPES: dict[tuple[str, str], tuple[tuple[int, int, int], ...]] = {
    ("f16", "f32"): ((16, 8, 16), (16, 8, 8)),
    ("f16", "f16"): ((16, 8, 16), (16, 8, 8)),
    ("bf16", "f32"): ((16, 8, 16), (16, 8, 8)),
    ("f32", "f32"): ((16, 8, 8),),
    ("f64", "f64"): ((16, 8, 16), (16, 8, 8), (16, 8, 4), (8, 8, 4)),
    ("i8", "i32"): ((16, 8, 32),),
}
"""M, N and K of the instructions for an element type of the operands and one of the accumulator. f32 is tf32. Those of
f64 with 16 rows are there from sm_90 on, and run twice as fast as 8x8x4."""


@dataclass(frozen=True)
class Instruction:
    """One mma.sync."""

    shape: tuple[int, int, int]
    element: str
    """Element type of the operands."""

    @property
    def in_registers(self) -> bool:
        """Whether it is built on registers, as nvvm.mma.sync or assembly. nvgpu.mma.sync saturates integers and
        supports only signed ones; the single-row vectors that it takes for f64 canonicalize to shape_casts, which
        nothing lowers."""
        return self.element in ("i8", "f64")

    @property
    def as_assembly(self) -> bool:
        """Whether neither nvgpu nor nvvm knows it."""
        return self.element == "f64" and self.shape[0] == 16

    @property
    def layout(self) -> Layout:
        """Which lane holds what of its accumulator."""
        layout = SYNC_DOUBLE if self.shape[0] == 8 else SYNC
        return replace(layout, stacked=False) if self.in_registers else layout


@dataclass
class SyncProducts:
    """Emits runs of products. With `double_buffer`, the fragments of a step are loaded before the products of the last
    one."""

    instruction: Instruction
    double_buffer: bool
    terms: LaneTerms | None = None

    def emit(self, fragments: Fragments, run: list[Any]) -> None:
        """Emits a run of tile.mma at the insertion point."""
        if self.terms is None:
            entry = fragments.entry
            self.terms = LaneTerms(fragments.lane.number, entry)
        depth = self.instruction.shape[2]
        steps = [(op, first) for op in run for first in range(0, Operand.of(op, "a").depth, depth)]
        sums = _Sums(fragments, self.instruction, dict.fromkeys(run))
        loaded = self._load(self.terms, *steps[0])
        for number, (op, _) in enumerate(steps):
            current, following = loaded, steps[number + 1 : number + 2]
            if self.double_buffer and following:
                loaded = self._load(self.terms, *following[0])
            with op.location:
                sums.add(op, *current)
            if not self.double_buffer and following:
                loaded = self._load(self.terms, *following[0])
        sums.finish()

    def _load(self, terms: LaneTerms, op: Any, first: int) -> tuple[list[Any], list[Any]]:
        """All fragments of A and of B for the K from `first` on."""
        m, _, k = self.instruction.shape
        a, b = Operand.of(op, "a"), Operand.of(op, "b")
        across = [first + column for column in range(0, k, a.unit)]
        left = [(top + row, column) for top in range(0, a.outer, m) for column in across for row in range(0, m, ROWS)]
        right = [(row, column) for row in range(0, b.outer, ROWS) for column in across]
        with op.location:
            return (
                self._fragments(terms, a, left, len(across) * (m // ROWS)),
                self._fragments(terms, b, right, len(across)),
            )

    def _fragments(self, terms: LaneTerms, operand: Operand, matrices: list[tuple[int, int]], share: int) -> list[Any]:
        if self.instruction.in_registers:
            registers = [register_of(row) for row in operand.rows(terms, matrices)]
            return [registers[first : first + share] for first in range(0, len(registers), share)]
        fragments = operand.fragments(terms, matrices, share)
        return [_nearest(fragment) for fragment in fragments] if self.instruction.element == "f32" else fragments


@dataclass
class _Sums:
    """The accumulators of a run, as the instruction takes them."""

    fragments: Fragments
    instruction: Instruction
    run: dict[Any, None]
    _values: dict[Any, list[Any]] = field(default_factory=dict[Any, list[Any]])

    def add(self, op: Any, left: list[Any], right: list[Any]) -> None:
        """Adds the products of one step of K: row by row, every second row backwards, so that a fragment of B that was
        just used is used again."""
        result = op.results[0]
        if result not in self._values:
            start = op.operands[2]
            kept = self._values[start] if start in self._values else self._unpack(self.fragments.keep(start))
            self._values[result] = list(kept)
        sums = self._values[result]
        for i, a in enumerate(left):
            columns = list(enumerate(right))
            for j, b in reversed(columns) if i % 2 else columns:
                number = i * len(right) + j
                sums[number] = self._multiply(op, a, b, sums[number])

    def finish(self) -> None:
        """Hands over the accumulators that are used after the run."""
        for op in self.run:
            if any(user not in self.run for user in users(op.results[0])):
                type_ = self.fragments.layout.piece_type(op.results[0].type.element_type)
                self.fragments.kept[op.results[0]] = self._pack(type_, self._values[op.results[0]])

    def _multiply(self, op: Any, a: Any, b: Any, c: Any) -> Any:
        if self.instruction.as_assembly:
            return _multiply_assembly(self.instruction, a, b, c)
        if self.instruction.in_registers:
            return _multiply_registers(op, self.instruction, a, b, c)
        rounded = True if self.instruction.element == "f32" else None
        shape = list(self.instruction.shape)
        return dialect("nvgpu").MmaSyncOp(c.type, a, b, c, shape, tf32Enabled=rounded).res

    def _unpack(self, kept: list[Any]) -> list[Any]:
        """For instructions on registers, the elements that a lane holds of each fragment."""
        if not self.instruction.in_registers:
            return kept
        elements = [dialect("vector").ExtractOp(vector, [], [place]).result for vector in kept for place in range(2)]
        each = 2 * len(self.fragments.layout.rows)
        return [elements[first : first + each] for first in range(0, len(elements), each)]

    def _pack(self, type_: Any, values: list[Any]) -> list[Any]:
        if not self.instruction.in_registers:
            return values
        pairs = [fragment[first : first + 2] for fragment in values for first in range(0, len(fragment), 2)]
        return [dialect("vector").FromElementsOp(type_, pair).result for pair in pairs]


def _multiply_assembly(instruction: Instruction, a: list[Any], b: list[Any], c: list[Any]) -> list[Any]:
    """One instruction of f64 as assembly. It is marked as having side effects; otherwise LLVM might move it into a
    branch that only some lanes of the warp take."""
    m, n, k = instruction.shape
    mnemonic = f"mma.sync.aligned.m{m}n{n}k{k}.row.col.f64.f64.f64.f64"
    numbers = iter(range(2 * len(c) + len(a) + len(b)))
    lists = ["{" + ", ".join(f"${next(numbers)}" for _ in registers) + "}" for registers in (c, a, b, c)]
    operands = [*a, *b, *c]
    element = c[0].type
    type_ = ir.Type.parse(f"!llvm.struct<({', '.join([str(element)] * len(c))})>")
    constraints = [*["=d"] * len(c), *["d"] * len(operands)]
    return assembly.members_of(assembly.inline(f"{mnemonic} {', '.join(lists)};", constraints, operands, type_))


def _multiply_registers(op: Any, instruction: Instruction, a: list[Any], b: list[Any], c: list[Any]) -> list[Any]:
    """One nvvm.mma.sync; bytes wrap around as arith does, and may be unsigned."""
    m, n, k = instruction.shape
    unsigned = ir.StringAttr(op.attributes["unsigned"]).value if "unsigned" in op.attributes else ""
    kinds = ["f64" if instruction.element == "f64" else "u8" if side in unsigned else "s8" for side in "ab"]
    wrapped = ir.Attribute.parse("#nvvm.mma_int_overflow<wrapped>") if instruction.element == "i8" else None
    element = c[0].type
    product = dialect("nvvm").MmaOp(
        ir.Type.parse(f"!llvm.struct<({', '.join([str(element)] * len(c))})>"),
        ir.Attribute.parse(f"#nvvm.shape<m = {m}, n = {n}, k = {k}>"),
        ir.Attribute.parse("#nvvm.mma_layout<row>"),
        ir.Attribute.parse("#nvvm.mma_layout<col>"),
        a,
        b,
        c,
        intOverflowBehavior=wrapped,
        multiplicandAPtxType=ir.Attribute.parse(f"#nvvm.mma_type<{kinds[0]}>"),
        multiplicandBPtxType=ir.Attribute.parse(f"#nvvm.mma_type<{kinds[1]}>"),
    )
    return assembly.members_of(product.operation.results[0])


def _nearest(fragment: Any) -> Any:
    """f32 rounded to tf32, to nearest: the instruction would cut the last 13 bits off."""
    vector, arith, nvvm = dialect("vector"), dialect("arith"), dialect("nvvm")
    mode = ir.Attribute.parse("#nvvm.fp_rnd_mode<rna>")
    result = fragment
    for row in range(fragment.type.shape[0]):
        number = vector.ExtractOp(fragment, [], [row, 0]).result
        bits = nvvm.ConvertFloatToTF32Op(number, rnd=mode).operation.results[0]
        rounded = arith.BitcastOp(number.type, bits).result
        result = vector.InsertOp(rounded, result, [], [row, 0]).result
    return result


def check(product: Any, shape: tuple[int, int, int]) -> Instruction:
    """The instruction of `shape` for a product. Refuses types without one, and sizes that are not multiples of it."""
    lhs, rhs, acc = product.operation.operands
    types = [str(value.type.element_type) for value in (lhs, rhs, acc)]
    shapes = SHAPES.get((types[0], types[2])) if types[0] == types[1] else None
    if shapes is None:
        known = "; ".join(f"{operand}, {operand} into {into}" for operand, into in SHAPES)
        raise pass_error(
            product, f"mma.sync has no product of {types[0]} and {types[1]} into {types[2]}; supported: {known}"
        )
    if shape not in shapes:
        raise pass_error(
            product,
            f"mma.sync has no m{shape[0]}n{shape[1]}k{shape[2]} for {types[0]}; supported: "
            + ", ".join(f"{m},{n},{k}" for m, n, k in shapes),
        )
    operands = [Operand.of(product, side) for side in "ab"]
    single = shape[2] * lhs.type.element_type.width == 8 * ROW_BYTES
    if single and not all(operand.by_matrix() for operand in operands):
        raise pass_error(
            product,
            f"m16n8k{shape[2]} on operands that ldmatrix cannot load; expected shared memory whose rows start at "
            f"multiples of {ROW_BYTES} bytes",
        )
    sizes = (*acc.type.shape, operands[0].depth)
    if any(size % part for size, part in zip(sizes, shape, strict=True)):
        raise pass_error(product, f"a warp tile of {sizes}; expected multiples of the instruction's {shape}")
    return Instruction(shape, types[0])
