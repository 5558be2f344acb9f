"""Products of quantised bytes as MLIR, for tests and checks on a GPU; and what they are in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Quantised:
    """A product of `m`x`k` and `k`x`n` less zero points, of `u8` where `extension` is arith.extui; each zero point is a
    constant or an argument."""

    m: int
    n: int
    k: int
    points: tuple[int, int]
    given: tuple[bool, bool] = (False, False)
    extensions: tuple[str, str] = ("extsi", "extsi")
    orders: tuple[str, str] = ("m, k", "k, n")
    open: bool = False

    def text(self) -> str:
        size = {"m": "?" if self.open else self.m, "n": self.n, "k": self.k}
        a, b = ("x".join(str(size[each]) for each in order.split(", ")) for order in self.orders)
        out = f"tensor<{size['m']}x{self.n}xi32>"
        arguments = [f"%{name}: i32" for name, given in zip(("za", "zb"), self.given, strict=True) if given]
        constants = [
            f"%{name} = arith.constant {point} : i32"
            for name, point, given in zip(("za", "zb"), self.points, self.given, strict=True) if not given
        ]  # fmt: skip
        loops, given = "(m, n, k)", "".join(f", {each}" for each in arguments)
        maps = [*self.orders, "", "", "m, n"]
        return f"""
        func.func @quantised(%a: tensor<{a}xi8>, %b: tensor<{b}xi8>{given}, %c: {out}) -> {out} {{
          {chr(10).join(constants)}
          %r = linalg.generic {{indexing_maps = [{", ".join(f"affine_map<{loops} -> ({each})>" for each in maps)}],
                               iterator_types = ["parallel", "parallel", "reduction"]}}
              ins(%a, %b, %za, %zb : tensor<{a}xi8>, tensor<{b}xi8>, i32, i32) outs(%c : {out}) {{
          ^bb0(%x: i8, %y: i8, %p: i32, %q: i32, %s: i32):
            %0 = arith.{self.extensions[0]} %x : i8 to i32
            %1 = arith.subi %0, %p : i32
            %2 = arith.{self.extensions[1]} %y : i8 to i32
            %3 = arith.subi %2, %q : i32
            %4 = arith.muli %1, %3 : i32
            %5 = arith.addi %s, %4 : i32
            linalg.yield %5 : i32
          }} -> {out}
          return %r : {out}
        }}"""

    def arrays(self, random: Any) -> tuple[Any, Any, list[Any], Any]:
        """A, B, the zero points that are arguments, and C."""
        sizes = {"m": self.m, "n": self.n, "k": self.k}
        a, b = (
            random.integers(-128, 128, [sizes[each] for each in order.split(", ")]).astype(np.int8)
            for order in self.orders
        )
        given = [np.array(point, np.int32) for point, is_given in zip(self.points, self.given, strict=True) if is_given]
        return a, b, given, random.integers(-(2**31), 2**31, (self.m, self.n)).astype(np.int32)

    def expected(self, a: Any, b: Any, c: Any) -> Any:
        """The result, which wraps as i32 does."""
        wide = [
            (each.view(np.uint8) if extension == "extui" else each).astype(np.int64) - point
            for each, extension, point in zip((a, b), self.extensions, self.points, strict=True)
        ]
        wide = [each.T if order in ("k, m", "n, k") else each for each, order in zip(wide, self.orders, strict=True)]
        return (wide[0] @ wide[1] + c).astype(np.int32)


DEQUANTISED = """
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @linear(%x: tensor<{m}x{k}x{x}>, %w: tensor<{n}x{k}xi8>, %ws: tensor<{n}xf32>, %xs: f32)
    -> tensor<{m}x{n}xf32> {{
  %z = arith.constant 0.0 : f32
  %xz = arith.constant 7 : i32
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<{m}x{k}x{x}>
  %e0 = tensor.empty({rows}) : tensor<{m}x{k}xf32>
  %xf = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%x : tensor<{m}x{k}x{x}>) outs(%e0 : tensor<{m}x{k}xf32>) {{
  ^bb0(%a: {x}, %o: f32):
    %1 = arith.{extend} %a : {x} to i32
    %2 = arith.subi %1, %xz : i32
    %3 = arith.sitofp %2 : i32 to f32
    %4 = arith.mulf %3, %xs : f32
    linalg.yield %4 : f32
  }} -> tensor<{m}x{k}xf32>
  %e1 = tensor.empty() : tensor<{n}x{k}xf32>
  %wf = linalg.generic {{indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%w, %ws : tensor<{n}x{k}xi8>, tensor<{n}xf32>) outs(%e1 : tensor<{n}x{k}xf32>) {{
  ^bb0(%a: i8, %s: f32, %o: f32):
    %3 = arith.sitofp %a : i8 to f32
    %4 = arith.mulf %3, %s : f32
    linalg.yield %4 : f32
  }} -> tensor<{n}x{k}xf32>
  %e2 = tensor.empty() : tensor<{k}x{n}xf32>
  %t = linalg.transpose ins(%wf : tensor<{n}x{k}xf32>) outs(%e2 : tensor<{k}x{n}xf32>) permutation = [1, 0]
  %e = tensor.empty({rows}) : tensor<{m}x{n}xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %r = linalg.matmul ins(%xf, %t : tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) outs(%f : tensor<{m}x{n}xf32>)
      -> tensor<{m}x{n}xf32>
  return %r : tensor<{m}x{n}xf32>
}}"""
"""A quantised linear layer as frameworks write it, in floating point. `rows` is `%rows` where `m` is `?`."""
