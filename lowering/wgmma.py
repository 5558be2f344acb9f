"""Products of a warpgroup's tiles as wgmma: instructions by type, descriptors of operands in shared memory.

A descriptor says where an operand starts and how its 8 x 16-byte cores lie (PTX: "Matrix Descriptor Format"). With the
swizzle of w bytes (128, 64 or 32), rows of w bytes follow each other: 8 w bytes from one 8 rows to the next. K along
the rows: a step of K is 32 bytes further on. M or N along the rows: panels of w bytes are a whole panel apart, and a
step of K is as many rows further on as it has elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.rings import PANEL_BYTES
from mlir_gemm.lowering import assembly, shared_address, wgmma_sparse
from mlir_gemm.lowering.fragments import Fragments, shape_of
from mlir_gemm.lowering.layouts import WARPGROUP, WarpgroupLayout
from mlir_gemm.lowering.wgmma_registers import LAYOUTS, RegisterOperand, multiply
from mlir_gemm.lowering.wgmma_sparse import SparseOperand

KINDS: dict[tuple[str, str], tuple[str, str, str]] = {
    ("f16", "f32"): ("f16", "f16", "f32"),
    ("bf16", "f32"): ("bf16", "bf16", "f32"),
    ("f32", "f32"): ("tf32", "tf32", "f32"),
    ("i8", "i32"): ("s8", "s8", "s32"),
    ("f16", "f16"): ("f16", "f16", "f16"),
}
"""The names of the types of A, B and the accumulator, by their elements."""
EIGHT = {"f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}
"""Those of 8-bit floats, of which A and B may have different ones; the accumulator is f32."""
GROUPS = 2
"""Groups of a product with A, or the metadata of a sparse one, through registers."""
ROWS, LARGEST, STEP_BYTES = 64, 256, 32
"""Rows of an instruction, its most columns, and the bytes of its K."""
_SWIZZLES = {128: 1, 64: 2, 32: 3}
"""The upper two bits of a descriptor, by the bytes of a panel's rows."""


@dataclass(frozen=True)
class GroupProducts:
    """Emits products of one type."""

    kinds: tuple[str, str, str]
    registers: int = 0
    """Bytes of A's elements where it comes through registers; 0 where it comes from shared memory."""
    sparse: bool = False
    """Whether A is a 2:4 sparse tile."""

    @property
    def layout(self) -> WarpgroupLayout:
        """Which thread holds what of the accumulator."""
        return LAYOUTS.get(self.registers, WARPGROUP)

    def emit(self, fragments: Fragments, run: list[Any]) -> None:
        """Emits asynchronous products at the insertion point, as one group each."""
        for op in run:
            with op.location:
                fragments.kept[op.results[0]] = self._product(fragments, op)

    def wait(self, kept: list[Any], pending: int) -> list[Any]:
        """Waits until at most `pending` groups are in flight. After the last wait the accumulators are tied to it:
        nothing else keeps arithmetic on them from being moved before it."""
        groups = GROUPS if self.registers or self.sparse else 1
        dialect("nvvm").WgmmaWaitGroupSyncOp(groups * pending)
        return kept if pending else [_tied(struct) for struct in kept]

    def _product(self, fragments: Fragments, op: Any) -> list[Any]:
        nvvm = dialect("nvvm")
        start = op.operands[2]
        rows, columns = shape_of(start)
        fresh = _is_zero(start)
        element = start.type.element_type
        count = rows // ROWS
        if fresh:
            type_ = WARPGROUP.kept_types(element, (rows, columns))
            sums = [dialect("llvm").UndefOp(type_).operation.results[0]] * count
        else:
            sums = fragments.keep(start)
        if through_registers(op):
            return self._by_registers(op, sums, fresh)
        if self.sparse:
            return self._sparse(op, SparseOperand.of(op.operands[0]), sums, fresh)
        left, right = (_Descriptor.of(op, side) for side in "ab")
        steps = op.operands[0].type.shape[tile.order_of(op, "a").index("k")] * left.item // STEP_BYTES
        nvvm.WgmmaFenceAlignedOp()
        for step in range(steps):
            b = right.at(0, step)
            for block in range(count):
                sums[block] = self._multiply(
                    op, sums[block], left.at(block * ROWS, step), b, columns, fresh and not step
                )
        nvvm.WgmmaGroupSyncAlignedOp()
        return sums

    def _by_registers(self, op: Any, sums: list[Any], fresh: bool) -> list[Any]:
        """With A through registers, in two groups. While one multiplies, the words of the next are loaded, into the
        registers of the one before it: so that one is waited for."""
        nvvm = dialect("nvvm")
        (_, columns), item = shape_of(op.operands[2]), op.operands[0].type.element_type.width // 8
        left, right = RegisterOperand.of(op), _Descriptor.of(op, "b")
        steps = op.operands[0].type.shape[0] * item // STEP_BYTES
        kinds = self._kinds_of(op)
        for half in (range(steps // 2), range(steps // 2, steps)):
            if not fresh:
                nvvm.WgmmaWaitGroupSyncOp(1)
            words = [[left.load(block, step) for block in range(len(sums))] for step in half]
            words = _held(words)
            nvvm.WgmmaFenceAlignedOp()
            for step, blocks in zip(half, words, strict=True):
                b = right.at(0, step)
                for block, four in enumerate(blocks):
                    new = fresh and not step
                    numbers = [] if new else assembly.members_of(sums[block])
                    shape = columns, STEP_BYTES // item
                    sums[block] = multiply(kinds, shape, sums[block].type, numbers, four, b)
            nvvm.WgmmaGroupSyncAlignedOp()
        return sums

    def _sparse(self, op: Any, left: SparseOperand, sums: list[Any], fresh: bool) -> list[Any]:
        """With a 2:4 sparse A, in two groups, as `_by_registers`: the metadata is in registers."""
        nvvm = dialect("nvvm")
        values, right = _Descriptor.of(op, "a", left.values), _Descriptor.of(op, "b")
        columns = op.operands[2].type.shape[1]
        steps = range(left.k // wgmma_sparse.INSTRUCTION_DEPTH)
        for half in (steps[: len(steps) // 2], steps[len(steps) // 2 :]):
            if not fresh:
                nvvm.WgmmaWaitGroupSyncOp(1)
            words = left.load(half)
            nvvm.WgmmaFenceAlignedOp()
            for step in half:
                b = right.at(0, 2 * step)
                for block in range(len(sums)):
                    numbers = [] if fresh and not step else assembly.members_of(sums[block])
                    places = values.at(block * ROWS, step), b, words[block, step // 2]
                    sums[block] = wgmma_sparse.multiply(
                        self.kinds, columns, sums[block].type, numbers, places, step % 2, not right.contiguous
                    )
            nvvm.WgmmaGroupSyncAlignedOp()
        return sums

    def _kinds_of(self, op: Any) -> tuple[str, str, str]:
        """The names of the types, of A and B with their signs."""
        unsigned = ir.StringAttr(op.attributes["unsigned"]).value if "unsigned" in op.attributes else ""
        a, b = ("u8" if side in unsigned else kind for side, kind in zip("ab", self.kinds, strict=False))
        return a, b, self.kinds[2]

    def _multiply(self, op: Any, struct: Any, a: Any, b: Any, columns: int, fresh: bool) -> Any:
        kinds = self._kinds_of(op)
        depth = STEP_BYTES * 8 // _WIDTHS[kinds[0]]
        orders = tile.order_of(op, "a"), tile.order_of(op, "b")
        product = dialect("nvvm").WgmmaMmaAsyncOp(
            struct.type,
            struct,
            a,
            b,
            ir.Attribute.parse(f"#nvvm.shape<m = {ROWS}, n = {columns}, k = {depth}>"),
            *(ir.Attribute.parse(f"#nvvm.wgmma_type<{kind}>") for kind in kinds),
            ir.Attribute.parse(f"#nvvm.wgmma_scale_out<{'zero' if fresh else 'one'}>"),
            ir.Attribute.parse("#nvvm.wgmma_scale_in<one>"),
            ir.Attribute.parse("#nvvm.wgmma_scale_in<one>"),
            ir.Attribute.parse(f"#nvvm.mma_layout<{'row' if orders[0] == 'mk' else 'col'}>"),
            ir.Attribute.parse(f"#nvvm.mma_layout<{'col' if orders[1] == 'nk' else 'row'}>"),
        )
        return product.operation.results[0]


_WIDTHS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8}


@dataclass
class _Descriptor:
    """The descriptors of one operand of a product."""

    start: Any
    """That of its first element, i64."""
    contiguous: bool
    """Whether K runs along the rows."""
    item: int
    """Bytes of an element."""
    rows: int
    """Rows of a panel."""
    width: int
    """Bytes of a row of a panel."""

    @staticmethod
    def of(op: Any, side: str, memory: Any = None) -> _Descriptor:
        """Operand `a` or `b` of a tile.mma, or other memory in its place."""
        memory = op.operands["ab".index(side)] if memory is None else memory
        contiguous = tile.order_of(op, side).endswith("k")
        item, rows = memory.type.element_type.width // 8, shared_address.rows_of(memory)
        width = shared_address.panel_bytes(memory)
        arith, i64 = dialect("arith"), ir.IntegerType.get_signless(64)
        at = arith.IndexCastUIOp(i64, shared_address.address(memory)).result
        # In a cluster the upper bits of an address in shared memory say whose it is.
        low = arith.ShRUIOp(arith.AndIOp(at, _number(0x3FFFF)).result, _number(4)).result
        leading = 0 if contiguous else rows * width
        fixed = leading >> 4 << 16 | shared_address.ROWS * width >> 4 << 32 | _SWIZZLES[width] << 62
        return _Descriptor(arith.OrIOp(low, _number(fixed)).result, contiguous, item, rows, width)

    def at(self, outer: int, step: int) -> Any:
        """The descriptor of what starts `outer` rows (of M or N) and `step` steps of K further on."""
        if self.contiguous:
            across, inside = divmod(step * STEP_BYTES, self.width)
            moved = across * self.rows * self.width + inside + outer * self.width
        else:
            panels = outer * self.item // self.width
            moved = panels * self.rows * self.width + step * STEP_BYTES // self.item * self.width
        return dialect("arith").AddIOp(self.start, _number(moved >> 4)).result if moved else self.start


def through_registers(product: Any) -> bool:
    """Whether A of a product of warpgroup tiles comes through registers: wgmma transposes elements of 16 bits only."""
    return tile.order_of(product, "a") == "km" and product.operation.operands[0].type.element_type.width != 16


def _held(words: list[list[list[Any]]]) -> list[list[list[Any]]]:
    """The same words, by an assembly of no instructions that takes and gives all of them: nothing that makes one of
    them is moved past it."""
    every = [word for blocks in words for four in blocks for word in four]
    type_ = ir.Type.parse(f"!llvm.struct<({', '.join(['i32'] * len(every))})>")
    held = iter(assembly.members_of(assembly.tied(every, type_)))
    return [[[next(held) for _ in four] for four in blocks] for blocks in words]


def _number(value: int) -> Any:
    signed = value - (1 << 64) if value >> 63 else value
    return dialect("arith").ConstantOp(ir.IntegerType.get_signless(64), signed).result


def _is_zero(value: Any) -> bool:
    element = constants.splat_of(value)
    return element is not None and element.value == 0


def _tied(struct: Any) -> Any:
    """The same struct, passed through inline assembly without instructions that takes and returns all its registers."""
    return assembly.tied(assembly.members_of(struct), struct.type)


def check(product: Any) -> GroupProducts:
    """The instructions for a product. Refuses types that have none, and tiles that no instruction has."""
    lhs, rhs, acc = product.operation.operands
    types = [str(value.type.element_type) for value in (lhs, rhs, acc)]
    kinds = KINDS.get((types[0], types[2])) if types[0] == types[1] else None
    if types[0] in EIGHT and types[1] in EIGHT and types[2] == "f32":
        kinds = EIGHT[types[0]], EIGHT[types[1]], "f32"
    if kinds is None:
        known = "; ".join(f"{operand}, {operand} into {into}" for operand, into in KINDS)
        raise pass_error(
            product, f"wgmma has no product of {types[0]} and {types[1]} into {types[2]}; supported: {known}"
        )
    orders = tile.order_of(product, "a"), tile.order_of(product, "b")
    if _WIDTHS[kinds[0]] != 16 and orders[1] != "nk":
        raise pass_error(
            product, f"wgmma multiplies {types[0]} with K along the rows of B only; got a = {orders[0]}, "
            f"b = {orders[1]}"
        )  # fmt: skip
    rows, columns = acc.type.shape
    depth = lhs.type.shape[orders[0].index("k")]
    panel = PANEL_BYTES * 8 // _WIDTHS[kinds[0]]
    if rows % ROWS or columns % 8 or columns > LARGEST or depth % panel:
        raise pass_error(
            product, f"a warpgroup's tile of {rows} x {columns} x {depth}; expected M a multiple of {ROWS}, N of 8 and "
            f"at most {LARGEST}, K of {panel}"
        )  # fmt: skip
    for memory, order, size in ((lhs, orders[0][1], rows), (rhs, orders[1][1], columns)):
        if order == "k":
            continue
        panel = shared_address.panel_bytes(memory) * 8 // _WIDTHS[kinds[0]]
        if size % panel and not (size == ROWS and order == "m" and through_registers(product)):
            raise pass_error(product, f"{size} {order} along the rows of an operand; expected a multiple of {panel}")
    registers = lhs.type.element_type.width // 8 if through_registers(product) else 0
    return GroupProducts(kinds, registers, wgmma_sparse.is_sparse(lhs))
