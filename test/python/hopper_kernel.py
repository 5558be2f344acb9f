"""A kernel for sm_90 as the compiler leaves it at stage `lower`, written by hand: a ring of tensor copies made by one
warpgroup, wgmma by another one, stmatrix, and a tensor copy of the result.

D[M, N] f16 = A[M, K] B[K, N] in blocks of 64 x 64 x 64 with two stages. Lines that order something have a name in a
comment, by which tests take them out or change them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

M, N, K = 128, 128, 256
STEPS = K // 64
TILE = 64 * 64 * 2
"""Bytes of a tile of 64 x 64 f16."""
A_AT, B_AT, C_AT, BARRIERS_AT = 0, 2 * TILE, 4 * TILE, 5 * TILE
SHARED = BARRIERS_AT + 32
BOX = '{box = array<i64: 64, 64>, swizzle = "128"}'
LOAD = "nvvm.cp.async.bulk.tensor.shared.cluster.global"
STRUCT = "!llvm.struct<(" + ", ".join(["f32"] * 32) + ")>"
K_MAJOR = 1 << 62 | (1024 >> 4) << 32
"""A descriptor without its address: 128-byte swizzle, 8 rows 1024 bytes apart."""
MN_MAJOR = K_MAJOR | (8192 >> 4) << 16


def pointer(name: str, address: str) -> str:
    """An address as a pointer."""
    return f"""%{name}_n = arith.index_castui {address} : index to i64
      %{name} = llvm.inttoptr %{name}_n : i64 to !llvm.ptr<3>"""


def position(indent: str, slot: str, phase: str) -> str:
    """The position after a position."""
    return f"""{indent}%last = arith.cmpi eq, {slot}, %c1 : index
{indent}%more = arith.addi {slot}, %c1 : index
{indent}%slot_next = arith.select %last, %c0, %more : index
{indent}%flipped = arith.xori {phase}, %i1 : i32
{indent}%phase_next = arith.select %last, %flipped, {phase} : i32
"""


def barriers(slot: str) -> str:
    """Pointers to the barriers of a stage."""
    return f"""%off = arith.muli {slot}, %c8 : index
      %full_at = arith.addi %bars, %off : index
      %empty_at = arith.addi %full_at, %c16 : index
      {pointer("full", "%full_at")}
      {pointer("empty", "%empty_at")}"""


def stage(slot: str) -> str:
    """Where a stage's tiles start."""
    return f"""%by = arith.muli {slot}, %tile : index
      %a_at = arith.addi %base, %by : index
      %b_off = arith.addi %by, %b_start : index
      %b_at = arith.addi %base, %b_off : index"""


PRODUCER = f"""
      %elected = nvvm.elect.sync -> i1 // elect
      scf.if %elected {{
        scf.for %k = %c0 to %steps step %c1 iter_args(%slot = %c0, %phase = %i0) -> (index, i32) {{
      {barriers("%slot")}
      {stage("%slot")}
      %other = arith.xori %phase, %i1 : i32 // producer phase
      nvvm.mbarrier.try_wait.parity %empty, %other, %ticks : !llvm.ptr<3>, i32, i32 // wait empty
      %state = nvvm.mbarrier.arrive.expect_tx %full, %bytes : !llvm.ptr<3>, i32 -> i64 // announce
      {pointer("a", "%a_at")}
      {pointer("b", "%b_at")}
      %a7 = llvm.addrspacecast %a : !llvm.ptr<3> to !llvm.ptr<7>
      %b7 = llvm.addrspacecast %b : !llvm.ptr<3> to !llvm.ptr<7>
      %kk = arith.muli %k, %c64 : index
      %ki = arith.index_cast %kk : index to i32
      {LOAD} %a7, %mapA, %full, box[%ki, %row] : !llvm.ptr<7>, !llvm.ptr // copy a
      {LOAD} %b7, %mapB, %full, box[%col, %ki] : !llvm.ptr<7>, !llvm.ptr // copy b
{position("      ", "%slot", "%phase")}      scf.yield %slot_next, %phase_next : index, i32
        }}
      }}"""


def multiply(sums: str, results: str, fresh: bool) -> str:
    """The products of a stage, as a group."""
    lines = [
        "%a_low = arith.shrui %a_num, %i64_4 : i64",
        "%b_low = arith.shrui %b_num, %i64_4 : i64",
        f"%a_const = arith.constant {K_MAJOR} : i64 // a descriptor",
        f"%b_const = arith.constant {MN_MAJOR} : i64 // b descriptor",
        "%da = arith.ori %a_low, %a_const : i64",
        "%db = arith.ori %b_low, %b_const : i64",
        f"nvvm.wgmma.fence.aligned // wgmma fence{' first' if fresh else ''}",
    ]
    before = sums
    for step in range(4):
        after = results if step == 3 else f"%part{step}"
        scale = "zero" if fresh and step == 0 else "one"
        lines += [
            f"%a_step{step} = arith.constant {2 * step} : i64",
            f"%b_step{step} = arith.constant {128 * step} : i64 // b step {step}",
            f"%da{step} = arith.addi %da, %a_step{step} : i64",
            f"%db{step} = arith.addi %db, %b_step{step} : i64",
            f"{after} = nvvm.wgmma.mma_async %da{step}, %db{step}, {before}, <m = 64, n = 64, k = 16>, "
            f"D[<f32>, <{scale}>], A[<f16>, <one>, <row>], B[<f16>, <one>, <row>] : {STRUCT} -> {STRUCT}",
        ]
        before = after
    lines.append(f"nvvm.wgmma.commit.group.sync.aligned // commit{' first' if fresh else ''}")
    return "\n      ".join(lines)


CONSUMER = f"""
      %undef = llvm.mlir.undef : {STRUCT}
      %acc = scf.execute_region -> {STRUCT} {{
      {barriers("%c0")}
      {stage("%c0")}
      nvvm.mbarrier.try_wait.parity %full, %i0, %ticks : !llvm.ptr<3>, i32, i32 // wait full first
      %a_num = arith.index_castui %a_at : index to i64
      %b_num = arith.index_castui %b_at : index to i64
      {multiply("%undef", "%sums", fresh=True)}
      scf.yield %sums : {STRUCT}
      }}
      %result:4 = scf.for %k = %c1 to %steps step %c1
          iter_args(%before = %acc, %slot = %c1, %phase = %i0, %previous = %c0) -> ({STRUCT}, index, i32, index) {{
      {barriers("%slot")}
      {stage("%slot")}
      nvvm.mbarrier.try_wait.parity %full, %phase, %ticks : !llvm.ptr<3>, i32, i32 // wait full
      %a_num = arith.index_castui %a_at : index to i64
      %b_num = arith.index_castui %b_at : index to i64
      {multiply("%before", "%sums", fresh=False)}
      nvvm.wgmma.wait.group.sync.aligned 1 // wait products
      scf.if %first_lane {{
      %old = arith.muli %previous, %c8 : index
      %old16 = arith.addi %old, %c16 : index
      %old_at = arith.addi %bars, %old16 : index
      {pointer("old_empty", "%old_at")}
      %released = nvvm.mbarrier.arrive %old_empty : !llvm.ptr<3> -> i64 // release
      }}
{position("      ", "%slot", "%phase")}      scf.yield %sums, %slot_next, %phase_next, %slot :
        {STRUCT}, index, i32, index
      }}
      nvvm.wgmma.wait.group.sync.aligned 0 // wait last products"""


def epilogue() -> str:
    """Results to f16, through shared memory, to global memory."""
    lines = [
        "%w16 = arith.muli %warp, %c16 : index",
        "%inner = arith.remui %lane, %c16 : index",
        "%r = arith.addi %w16, %inner : index",
        "%pair = arith.divui %lane, %c16 : index",
        "%r8 = arith.remui %r, %c8 : index",
        "%r128 = arith.muli %r, %c128 : index",
    ]
    for j in range(0, 8, 2):
        registers: list[str] = []
        for half in range(4):
            at = 4 * j + 2 * half
            x = f"{j}_{half}"
            lines += [
                f"%e{x} = llvm.extractvalue %result#0[{at}] : {STRUCT}",
                f"%f{x} = llvm.extractvalue %result#0[{at + 1}] : {STRUCT}",
                f"%v{x} = vector.from_elements %e{x}, %f{x} : vector<2xf32>",
                f"%h{x} = arith.truncf %v{x} : vector<2xf32> to vector<2xf16>",
                f"%p{x} = vector.bitcast %h{x} : vector<2xf16> to vector<1xi32>",
                f"%q{x} = vector.extract %p{x}[0] : i32 from vector<1xi32>",
            ]
            registers.append(f"%q{x}")
        lines += [
            f"%j{j} = arith.constant {j} : index",
            f"%chunk{j} = arith.addi %pair, %j{j} : index",
            f"%swizzled{j} = arith.xori %chunk{j}, %r8 : index // store swizzle",
            f"%bytes{j} = arith.muli %swizzled{j}, %c16 : index",
            f"%at{j} = arith.addi %r128, %bytes{j} : index",
            f"%c_at{j} = arith.addi %c_base, %at{j} : index",
            pointer(f"cp{j}", f"%c_at{j}"),
            f"nvvm.stmatrix %cp{j}, {', '.join(registers)} {{layout = #nvvm.mma_layout<row>, shape = "
            "#nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : "
            "!llvm.ptr<3>, i32, i32, i32, i32",
        ]
    lines += [
        "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>} // proxy fence",
        "nvvm.barrier id = %i1 number_of_threads = %threads // store barrier",
        "%first_warp = arith.cmpi eq, %warp, %c0 : index",
        "scf.if %first_warp {",
        "%stores = nvvm.elect.sync -> i1",
        "scf.if %stores {",
        pointer("c", "%c_base"),
        "nvvm.cp.async.bulk.tensor.global.shared.cta %mapD, %c, box[%col, %row] : !llvm.ptr, !llvm.ptr<3> // store",
        "nvvm.cp.async.bulk.commit.group // commit store",
        "nvvm.cp.async.bulk.wait_group 0 {read} // wait store",
        "}",
        "}",
    ]
    return "\n      ".join(lines)


CONSTANTS = "\n".join(
    [f"      %c{n} = arith.constant {n} : index" for n in (0, 1, 8, 16, 32, 64, 128, 4)]
    + [f"      %i{n} = arith.constant {n} : i32" for n in (0, 1)]
)
KERNEL = f"""module attributes {{gpu.container_module}} {{
  func.func @f(%A: memref<{M}x{K}xf16> {{tile.role = "in"}}, %B: memref<{K}x{N}xf16> {{tile.role = "in"}},
               %D: memref<{M}x{N}xf16> {{tile.role = "out"}}) {{
    %mapA = "tile.tensor_map"(%A) {BOX} : (memref<{M}x{K}xf16>) -> !llvm.ptr // map a
    %mapB = "tile.tensor_map"(%B) {BOX} : (memref<{K}x{N}xf16>) -> !llvm.ptr // map b
    %mapD = "tile.tensor_map"(%D) {BOX} : (memref<{M}x{N}xf16>) -> !llvm.ptr
    %one = arith.constant 1 : index
    %grid = arith.constant 2 : index
    %block = arith.constant 256 : index
    gpu.launch_func @m::@k blocks in (%grid, %grid, %one) threads in (%block, %one, %one)
        args(%mapA : !llvm.ptr, %mapB : !llvm.ptr, %mapD : !llvm.ptr)
    return
  }}
  gpu.module @m {{
    memref.global "private" @s : memref<{SHARED}xi8, 3> = uninitialized {{alignment = 1024 : i64}} // shared
    gpu.func @k(%mapA: !llvm.ptr, %mapB: !llvm.ptr, %mapD: !llvm.ptr) kernel {{
{CONSTANTS}
      %i64_4 = arith.constant 4 : i64
      %ticks = arith.constant 10000000 : i32
      %threads = arith.constant 128 : i32 // store threads
      %full_count = arith.constant 1 : i32 // full count
      %empty_count = arith.constant 4 : i32 // empty count
      %steps = arith.constant {STEPS} : index
      %tile = arith.constant {TILE} : index
      %b_start = arith.constant {B_AT} : index // b start
      %c_start = arith.constant {C_AT} : index // c start
      %bars_start = arith.constant {BARRIERS_AT} : index // bars start
      %bytes = arith.constant {2 * TILE} : i32 // bytes
      %t = gpu.thread_id x
      %bx = gpu.block_id x
      %by_ = gpu.block_id y
      %row_n = arith.muli %by_, %c64 : index
      %col_n = arith.muli %bx, %c64 : index
      %row = arith.index_cast %row_n : index to i32
      %col = arith.index_cast %col_n : index to i32
      %memory = memref.get_global @s : memref<{SHARED}xi8, 3>
      %base = memref.extract_aligned_pointer_as_index %memory : memref<{SHARED}xi8, 3> -> index
      %bars = arith.addi %base, %bars_start : index
      %c_base = arith.addi %base, %c_start : index
      %warp = arith.divui %t, %c32 : index
      %lane = arith.remui %t, %c32 : index
      %first_lane = arith.cmpi eq, %lane, %c0 : index
      %first = arith.cmpi eq, %t, %c0 : index
      scf.if %first {{
      {pointer("full0", "%bars")}
      %full1_at = arith.addi %bars, %c8 : index
      {pointer("full1", "%full1_at")}
      %empty0_at = arith.addi %bars, %c16 : index
      {pointer("empty0", "%empty0_at")}
      %empty1_at = arith.addi %full1_at, %c16 : index
      {pointer("empty1", "%empty1_at")}
      nvvm.mbarrier.init %full0, %full_count : !llvm.ptr<3>, i32 // init full
      nvvm.mbarrier.init %full1, %full_count : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty0, %empty_count : !llvm.ptr<3>, i32 // init empty
      nvvm.mbarrier.init %empty1, %empty_count : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init // init fence
      }}
      gpu.barrier // init barrier
      %producer = arith.cmpi uge, %t, %c128 : index
      scf.if %producer {{
      nvvm.setmaxregister decrease 40 // fewer registers
      %is_first = arith.cmpi eq, %warp, %c4 : index
      scf.if %is_first {{
{PRODUCER}
      }}
      }} else {{
      nvvm.setmaxregister increase 232 // more registers
{CONSUMER}
      {epilogue()}
      }}
      gpu.return
    }}
  }}
}}"""


def changed(name: str, change: Callable[[str], str]) -> str:
    """The kernel with the lines of this name changed."""
    lines = KERNEL.split("\n")
    found = [number for number, line in enumerate(lines) if line.endswith(f"// {name}")]
    assert found, name
    for number in found:
        lines[number] = change(lines[number])
    return "\n".join(lines)


def without(name: str) -> str:
    """The kernel without the lines of this name."""
    return changed(name, lambda _: "")


def replaced(name: str, old: str, new: str) -> str:
    """The kernel with another text in the lines of this name."""

    def change(line: str) -> str:
        assert re.search(re.escape(old), line), line
        return line.replace(old, new)

    return changed(name, change)
