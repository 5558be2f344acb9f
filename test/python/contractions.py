"""Tensor contractions as MLIR, for tests and checks on a GPU: those of the TCCG benchmark, and random ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

TCCG = {
    "ccsd": ("ij-ik-kj", "ij-ikl-ljk", "ij-kil-lkj", "ijk-ikl-lj", "ijk-ilk-jl", "ijk-ilmk-mjl", "ijkl-imjn-lnkm",
             "ijkl-imjn-nlmk", "ijkl-minl-njmk"),
    "ao2mo": ("aqrs-pa-pqrs", "abrs-qb-aqrs", "abcs-rc-abrs"),
    "intensli": ("abj-bka-kj", "ajb-kba-jk", "abjc-cbka-kj", "ajbc-ckba-jk", "abjc-kbac-jk", "abjcd-dkbac-jk",
                 "adbjc-cbdka-kj", "ajbdc-ckbad-jk"),
    "ccsd_t": ("abcijk-ijma-mkbc", "abcijk-ijmb-mkac", "abcijk-ijmc-mkab", "abcijk-ikmb-mjac"),
}  # fmt: skip
"""The 24 contractions of the benchmark (Springer and Bientinesi, "Design of a High-Performance GEMM-like Tensor-Tensor
Multiplication", ACM TOMS 2018; github.com/HPAC/tccg), as C-A-B, the first index of each tensor the fastest."""
_ELEMENTS, _FIRST, _ANY = 200 * 2**20 / 4, 24, 4
"""The benchmark's sizes: the tensor of most dimensions has about 200 MiB of f32; all sizes are about equal, those of
first indices multiples of 24, the others of 4. Matrices that multiply tensors have a `j` of 24."""


@dataclass(frozen=True)
class Contraction:
    """A product of tensors, row-major, in letters as an einsum has them."""

    a: str
    b: str
    c: str
    sizes: tuple[tuple[str, int], ...]
    dtype: str = "f16"
    name: str = ""

    @property
    def equation(self) -> str:
        """As an einsum takes it."""
        return f"{self.a},{self.b}->{self.c}"

    def shape(self, letters: str) -> list[int]:
        """The sizes of a tensor."""
        known = dict(self.sizes)
        return [known[each] for each in letters]

    @property
    def flops(self) -> int:
        """Floating-point operations."""
        return 2 * prod(size for _, size in self.sizes)

    @property
    def elements(self) -> int:
        """Of both operands and the result."""
        return sum(prod(self.shape(each)) for each in (self.a, self.b, self.c))

    def text(self) -> str:
        """A module: both tensors in, the result out, in their type; added up in f32."""
        loops = [*self.c, *sorted({*self.a, *self.b} - {*self.c}, key=(self.a + self.b).index)]
        a, b, c = (self._type(each, self.dtype) for each in (self.a, self.b, self.c))
        wide = self._type(self.c, "f32")
        maps = ", ".join(_map(loops, each) for each in (self.a, self.b, self.c))
        kinds = ", ".join('"parallel"' if each in self.c else '"reduction"' for each in loops)
        narrow = self.dtype != "f32"
        lines = [
            f"func.func @contract(%a: {a}, %b: {b}) -> {c} {{",
            "  %zero = arith.constant 0.0 : f32",
            f"  %e = tensor.empty() : {wide}",
            f"  %f = linalg.fill ins(%zero : f32) outs(%e : {wide}) -> {wide}",
            f"  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}"
            f" ins(%a, %b : {a}, {b}) outs(%f : {wide}) {{",
            f"  ^bb0(%x: {self.dtype}, %y: {self.dtype}, %s: f32):",
        ]
        if narrow:
            lines += [f"    %{each}w = arith.extf %{each} : {self.dtype} to f32" for each in "xy"]
        x, y = ("%xw", "%yw") if narrow else ("%x", "%y")
        lines += [
            f"    %p = arith.mulf {x}, {y} : f32",
            "    %q = arith.addf %s, %p : f32",
            "    linalg.yield %q : f32",
            f"  }} -> {wide}",
        ]
        if narrow:
            same = _map([*self.c], self.c)
            kinds = ", ".join(['"parallel"'] * len(self.c))
            lines += [
                f"  %n = tensor.empty() : {c}",
                f"  %o = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = [{kinds}]}}"
                f" ins(%r : {wide}) outs(%n : {c}) {{",
                f"  ^bb0(%x: f32, %y: {self.dtype}):",
                f"    %t = arith.truncf %x : f32 to {self.dtype}",
                f"    linalg.yield %t : {self.dtype}",
                f"  }} -> {c}",
            ]
        return "\n".join([*lines, f"  return {'%o' if narrow else '%r'} : {c}", "}"])

    def _type(self, letters: str, element: str) -> str:
        return f"tensor<{'x'.join(map(str, self.shape(letters)))}x{element}>"

    def expected(self, a: Any, b: Any) -> Any:
        """The result in float64."""
        return np.einsum(self.equation, np.asarray(a, np.float64), np.asarray(b, np.float64), optimize=True)


def _map(loops: list[str], letters: str) -> str:
    dims = ", ".join(f"d{number}" for number in range(len(loops)))
    return f"affine_map<({dims}) -> ({', '.join(f'd{loops.index(each)}' for each in letters)})>"


def tccg(dtype: str = "f16") -> Iterator[Contraction]:
    """The contractions of the benchmark, in its sizes; row-major, so that their indices are reversed."""
    for group, names in TCCG.items():
        for name in names:
            c, a, b = name.split("-")
            fixed = {"j": 24} if group == "intensli" else {}
            sizes = tuple(sorted({**_sizes((c, a, b)), **fixed}.items()))
            yield Contraction(a[::-1], b[::-1], c[::-1], sizes, dtype, f"{group} {name}")


def _sizes(tensors: tuple[str, ...]) -> dict[str, int]:
    average = _ELEMENTS ** (1 / max(map(len, tensors)))
    firsts = {each[0] for each in tensors}
    up, down = int((average + _ANY - 1) / _ANY) * _ANY, max(_ANY, int(average / _ANY) * _ANY)
    near = up if abs(average - up) < abs(average - down) else down
    wide = int((average + _FIRST - 1) / _FIRST) * _FIRST
    return {each: wide if each in firsts else near for each in "".join(tensors)}


def random_contraction(rng: random.Random, most: int, dtype: str = "f16") -> Contraction:
    """Groups of up to three dimensions each for m, n and k, and perhaps a batch, in any order in each tensor, with at
    most `most` elements in each dimension."""
    letters = iter("abcdefghijkl")
    groups = {kind: [next(letters) for _ in range(rng.randint(low, high))]
              for kind, low, high in (("m", 1, 3), ("n", 1, 3), ("k", 1, 3), ("batch", 0, 1))}  # fmt: skip
    sizes = {each: rng.choice([1, 2, 3, 4, 5, 7, 8, 12, 16, most]) for group in groups.values() for each in group}
    a, b, c = ([each for kind in kinds for each in groups[kind]] for kinds in
               (("batch", "m", "k"), ("batch", "n", "k"), ("batch", "m", "n")))  # fmt: skip
    for each in (a, b, c):
        rng.shuffle(each)
    return Contraction("".join(a), "".join(b), "".join(c), tuple(sorted(sizes.items())), dtype)
