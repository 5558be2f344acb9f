"""Products of warp tiles as mma.sync: the instructions by type, their fragments, and the order in which they stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import users
from mlir_gemm.lowering import assembly, quad_pairs, sync_sparse
from mlir_gemm.lowering.access import register_of
from mlir_gemm.lowering.composite import operand_of
from mlir_gemm.lowering.fragments import Fragments
from mlir_gemm.lowering.layouts import SYNC, SYNC_DOUBLE, Layout
from mlir_gemm.lowering.operands import ROW_BYTES, ROWS, LaneTerms, Operand
from mlir_gemm.lowering.sync_sparse import SparseOperand
from mlir_gemm.lowering.wgmma_sparse import is_sparse
from mlir_gemm.spec.sparse import ELEMENTS

SHAPES: dict[tuple[str, str], tuple[tuple[int, int, int], ...]] = {
    ("f16", "f32"): ((16, 8, 16), (16, 8, 8), (8, 8, 4)),
    ("f16", "f16"): ((16, 8, 16), (16, 8, 8)),
    ("bf16", "f32"): ((16, 8, 16), (16, 8, 8)),
    ("f32", "f32"): ((16, 8, 8),),
    ("f64", "f64"): ((16, 8, 16), (16, 8, 8), (16, 8, 4), (8, 8, 4)),
    ("i8", "i32"): ((16, 8, 32), (8, 8, 16)),
    ("f8E4M3FN", "f32"): ((16, 8, 32),),
    ("f8E5M2", "f32"): ((16, 8, 32),),
}
"""M, N and K of the instructions for an element type of the operands and one of the accumulator. f32 is tf32. Those of
f64 with 16 rows are there from sm_90 on, and run twice as fast as 8x8x4. 16x8x8 of f16 and 8x8x16 of bytes are those of
sm_75, 8x8x4 of f16 that of sm_70, of which a warp multiplies four at once."""
SPARSE_SHAPES: dict[tuple[str, str], tuple[tuple[int, int, int], ...]] = {
    (element, "f32"): (sync_sparse.SHAPE,) for element in ELEMENTS
}
"""The same where A is 2:4 sparse."""
F8 = {"f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}
"""PTX's names of 8-bit floats, of which A and B may be different ones."""


@dataclass(frozen=True)
class Instruction:
    """One mma.sync."""

    shape: tuple[int, int, int]
    element: str
    """Element type of A."""
    right: str
    """Element type of B."""
    acc: str
    """Element type of the accumulator."""
    sparse: bool = False
    """Whether A is a 2:4 sparse tile."""

    @property
    def step(self) -> int:
        """Places of k that are multiplied at once."""
        return sync_sparse.STEP if self.sparse else self.shape[2]

    @property
    def in_registers(self) -> bool:
        """Whether it is built on registers, as nvvm.mma.sync or assembly. nvgpu.mma.sync saturates integers and
        supports only signed ones; the single-row vectors that it takes for f64, and of a B of one matrix, canonicalize
        to shape_casts, which nothing lowers."""
        return self.sparse or self.element in ("i8", "f64", *F8) or (self.element == "f16" and self.shape[2] <= 8)

    @property
    def in_quads(self) -> bool:
        """Whether each quad-pair of a warp multiplies matrices of its own."""
        return self.element == "f16" and self.shape[0] == 8

    @property
    def unit(self) -> tuple[int, int, int]:
        """What a warp multiplies at once."""
        return (quad_pairs.SIDE, quad_pairs.SIDE, quad_pairs.DEPTH) if self.in_quads else self.shape

    @property
    def as_assembly(self) -> bool:
        """Whether neither nvgpu nor nvvm knows it."""
        return self.sparse or self.element in F8 or (self.element == "f64" and self.shape[0] == 16)

    @property
    def layout(self) -> Layout:
        """Which lane holds what of its accumulator."""
        if self.in_quads:
            return quad_pairs.LAYOUT
        layout = SYNC_DOUBLE if self.shape[0] == 8 else SYNC
        return replace(layout, stacked=False) if self.in_registers else layout

    @property
    def in_pairs(self) -> bool:
        """Whether a register of the accumulator holds two neighbours."""
        return self.acc == "f16"


@dataclass
class SyncProducts:
    """Emits runs of products. With `double_buffer`, the fragments of a step are loaded before the products of the last
    one."""

    instruction: Instruction
    double_buffer: bool
    ordered: bool = False
    """Whether metadata is said to be in order."""
    terms: LaneTerms | None = None
    _sparse: dict[Any, SparseOperand] = field(default_factory=dict[Any, SparseOperand])
    """A of products where it is sparse."""
    _composites: dict[Any, Operand] = field(default_factory=dict[Any, Operand])
    """Operands of elements with components."""

    def emit(self, fragments: Fragments, run: list[Any]) -> None:
        """Emits a run of tile.mma at the insertion point."""
        if self.terms is None:
            entry = fragments.entry
            self.terms = LaneTerms(fragments.lane.number, entry)
        depth = self.instruction.step
        steps = [(op, first) for op in run for first in range(0, Operand.of(op, "a").depth, depth)]
        sums = _Sums(fragments, self.instruction, dict.fromkeys(run), self.ordered)
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
        m, k = self.instruction.shape[0], self.instruction.step
        with op.location:
            a, b = Operand.of(op, "a"), operand_of(op, "b", self._once)
        if self.instruction.in_quads:
            with op.location:
                left, right = (quad_pairs.fragments(terms, each, side, first) for side, each in (("a", a), ("b", b)))
            return left, right
        across = [first + column for column in range(0, k, a.unit)]
        right = [(row, column) for row in range(0, b.outer, ROWS) for column in across]
        if self.instruction.sparse:
            with op.location:
                if op not in self._sparse:
                    self._sparse[op] = SparseOperand.of(a.memory)
                return self._sparse[op].load(terms, first), self._fragments(terms, b, right, len(across))
        left = [(top + row, column) for top in range(0, a.outer, m) for column in across for row in range(0, m, ROWS)]
        with op.location:
            return (
                self._fragments(terms, a, left, len(across) * (m // ROWS)),
                self._fragments(terms, b, right, len(across)),
            )

    def _once(self, key: Any, build: Callable[[], Operand]) -> Operand:
        """An operand of a product that is built once."""
        if key not in self._composites:
            self._composites[key] = build()
        return self._composites[key]

    def _fragments(self, terms: LaneTerms, operand: Operand, matrices: list[tuple[int, int]], share: int) -> list[Any]:
        if self.instruction.in_registers:
            rows = operand.rows(terms, matrices)
            as_rows = self.instruction.element == "f16" and not self.instruction.sparse
            registers = rows if as_rows else [register_of(row) for row in rows]
            return [registers[first : first + share] for first in range(0, len(registers), share)]
        fragments = operand.fragments(terms, matrices, share)
        return [_nearest(fragment) for fragment in fragments] if self.instruction.element == "f32" else fragments


@dataclass
class _Sums:
    """The accumulators of a run, as the instruction takes them."""

    fragments: Fragments
    instruction: Instruction
    run: dict[Any, None]
    ordered: bool
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
        if self.instruction.sparse:
            return sync_sparse.multiply(self.instruction.element, a, b, c, self.ordered)
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
        pieces = len(self.fragments.layout.rows)
        if self.instruction.in_pairs:
            return [kept[first : first + pieces] for first in range(0, len(kept), pieces)]
        elements = [dialect("vector").ExtractOp(vector, [], [place]).result for vector in kept for place in range(2)]
        each = 2 * pieces
        return [elements[first : first + each] for first in range(0, len(elements), each)]

    def _pack(self, type_: Any, values: list[Any]) -> list[Any]:
        if not self.instruction.in_registers:
            return values
        if self.instruction.in_pairs:
            return [piece for fragment in values for piece in fragment]
        pairs = [fragment[first : first + 2] for fragment in values for first in range(0, len(fragment), 2)]
        return [dialect("vector").FromElementsOp(type_, pair).result for pair in pairs]


def _multiply_assembly(instruction: Instruction, a: list[Any], b: list[Any], c: list[Any]) -> list[Any]:
    """One instruction as assembly. It is marked as having side effects; otherwise LLVM might move it into a branch that
    only some lanes of the warp take."""
    m, n, k = instruction.shape
    acc = instruction.acc
    kinds = [acc, *(F8.get(side, side) for side in (instruction.element, instruction.right)), acc]
    mnemonic = f"mma.sync.aligned.m{m}n{n}k{k}.row.col.{'.'.join(kinds)}"
    numbers = iter(range(2 * len(c) + len(a) + len(b)))
    lists = ["{" + ", ".join(f"${next(numbers)}" for _ in registers) + "}" for registers in (c, a, b, c)]
    element = c[0].type
    type_ = ir.Type.parse(f"!llvm.struct<({', '.join([str(element)] * len(c))})>")
    sums, operands = ("d", "d") if acc == "f64" else ("f", "r")
    constraints = [*[f"={sums}"] * len(c), *[operands] * (len(a) + len(b)), *[sums] * len(c)]
    return assembly.members_of(assembly.inline(f"{mnemonic} {', '.join(lists)};", constraints, [*a, *b, *c], type_))


def _multiply_registers(op: Any, instruction: Instruction, a: list[Any], b: list[Any], c: list[Any]) -> list[Any]:
    """One nvvm.mma.sync; bytes wrap around as arith does, and may be unsigned."""
    m, n, k = instruction.shape
    unsigned = ir.StringAttr(op.attributes["unsigned"]).value if "unsigned" in op.attributes else ""
    kinds = ["u8" if side in unsigned else {"i8": "s8"}.get(instruction.element, instruction.element) for side in "ab"]
    wrapped = ir.Attribute.parse("#nvvm.mma_int_overflow<wrapped>") if instruction.element == "i8" else None
    # Only the fragments of quad-pairs may have neighbours across k.
    along = [Operand.of(op, side).contiguous or not instruction.in_quads for side in "ab"]
    rows = "row" if along[0] else "col", "col" if along[1] else "row"
    element = c[0].type
    product = dialect("nvvm").MmaOp(
        ir.Type.parse(f"!llvm.struct<({', '.join([str(element)] * len(c))})>"),
        ir.Attribute.parse(f"#nvvm.shape<m = {m}, n = {n}, k = {k}>"),
        ir.Attribute.parse(f"#nvvm.mma_layout<{rows[0]}>"),
        ir.Attribute.parse(f"#nvvm.mma_layout<{rows[1]}>"),
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
    one_kind = types[0] == types[1] or {types[0], types[1]} <= F8.keys()
    sparse = is_sparse(lhs)
    known_shapes = SPARSE_SHAPES if sparse else SHAPES
    shapes = known_shapes.get((types[0], types[2])) if one_kind else None
    if shapes is None:
        known = "; ".join(f"{operand}, {operand} into {into}" for operand, into in known_shapes)
        name = "mma.sp" if sparse else "mma.sync"
        raise pass_error(
            product, f"{name} has no product of {types[0]} and {types[1]} into {types[2]}; supported: {known}"
        )
    if shape not in shapes:
        raise pass_error(
            product,
            f"{'mma.sp' if sparse else 'mma.sync'} has no m{shape[0]}n{shape[1]}k{shape[2]} for {types[0]}; supported: "
            + ", ".join(f"{m},{n},{k}" for m, n, k in shapes),
        )
    operands = [Operand.of(product, side) for side in "ab"]
    instruction = Instruction(shape, *types, sparse=sparse)
    single = shape[2] * lhs.type.element_type.width == 8 * ROW_BYTES
    if single and not instruction.in_registers and not all(operand.by_matrix() for operand in operands):
        raise pass_error(
            product,
            f"m16n8k{shape[2]} on operands that ldmatrix cannot load; expected shared memory whose rows start at "
            f"multiples of {ROW_BYTES} bytes",
        )
    sizes = (*acc.type.shape, operands[0].depth)
    if any(size % part for size, part in zip(sizes, instruction.unit, strict=True)):
        raise pass_error(product, f"a warp tile of {sizes}; expected multiples of the instruction's {instruction.unit}")
    return instruction
