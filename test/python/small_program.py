"""A program of three kernels, which run four times on the arguments, a constant and two buffers in between."""

from __future__ import annotations


def kernel(name: str, m: int, k: int, n: int, out: str = "f32", note: str = "") -> str:
    """A product in a module of its own, f16 operands, into f32 or f16."""
    noted = f', tile.note = "{note}"' if note else ""
    target = "%d" if out == "f32" else "%acc"
    narrow = (
        ""
        if out == "f32"
        else f"""
      linalg.generic {{
          indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
          iterator_types = ["parallel", "parallel"]}}
          ins(%acc : memref<{m}x{n}xf32>) outs(%d : memref<{m}x{n}xf16>) {{
      ^bb0(%in: f32, %old: f16):
        %0 = arith.truncf %in : f32 to f16
        linalg.yield %0 : f16
      }}"""
    )
    alloc = "" if out == "f32" else f"%acc = memref.alloc() : memref<{m}x{n}xf32>"
    return f"""
  module @{name} attributes {{tile.stage = "import"{noted}}} {{
    func.func @{name}(%a: memref<{m}x{k}xf16> {{tile.role = "in"}}, %b: memref<{k}x{n}xf16> {{tile.role = "in"}},
                      %d: memref<{m}x{n}x{out}> {{tile.role = "out"}}) {{
      %zero = arith.constant 0.0 : f32
      {alloc}
      linalg.fill ins(%zero : f32) outs({target} : memref<{m}x{n}xf32>)
      linalg.matmul ins(%a, %b : memref<{m}x{k}xf16>, memref<{k}x{n}xf16>) outs({target} : memref<{m}x{n}xf32>){narrow}
      return
    }}
  }}"""


def run(name: str, *buffers: tuple[str, str]) -> str:
    """A tile.run on the addresses of buffers, given as (value, type)."""
    lines = [
        f"    %{name}_{i} = memref.extract_aligned_pointer_as_index {value} : {type_} -> index"
        for i, (value, type_) in enumerate(buffers)
    ]
    values = ", ".join(f"%{name}_{i}" for i in range(len(buffers)))
    types = ", ".join("index" for _ in buffers)
    kernel_name = name.rstrip("z")
    return "\n".join([*lines, f'    "tile.run"({values}) {{kernel = "{kernel_name}"}} : ({types}) -> ()'])


X, T, W, R = "memref<4x16x32xf16>", "memref<64x64xf16>", "memref<32x64xf16>", "memref<64x64xf32>"
HEAD = """module attributes {tile.stage = "import", tile.chip = "sm_80"} {
  memref.global "private" constant @constant_0 : memref<64x64xf16> = dense<0.5>
"""
MAIN = f"""
  func.func @main(%x: {X} {{tile.role = "in", tile.name = "x"}}, %w: {W} {{tile.role = "in", tile.name = "w"}},
                  %r: {R} {{tile.role = "result"}}) {{
    %t = memref.alloc() : {T}
    %u = memref.alloc() : {T}
    %c = memref.get_global @constant_0 : {T}
{run("main_0", ("%x", X), ("%w", W), ("%t", T))}
{run("main_1", ("%t", T), ("%c", T), ("%u", T))}
{run("main_1z", ("%u", T), ("%c", T), ("%t", T))}
{run("main_2", ("%t", T), ("%c", T), ("%r", R))}
    return
  }}
"""
PROGRAM = (
    HEAD
    + MAIN
    + kernel("main_0", 64, 32, 64, "f16", note="the relu is read twice")
    + kernel("main_1", 64, 64, 64, "f16")
    + kernel("main_2", 64, 64, 64)
    + "\n}\n"
)


def entries(ptx: str) -> list[str]:
    return [line.split()[-1].rstrip("(") for line in ptx.splitlines() if ".entry" in line]
