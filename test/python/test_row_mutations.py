"""Lowered kernels of rows with one thing changed: the simulator's checks or the numbers say so.

Each mutation takes something out of the code, or changes one number in it: a barrier, an exchange between lanes, the
place of an access, the element that is neutral, what combines. All places where it applies are tried, each by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
import pytest
from row_cases import chosen, quantised, reduced
from row_kernels import Case, compiled, fields, measured, pinned

from mlir_gemm.errors import Error
from mlir_gemm.simulator.kernel import Options, simulate

KERNELS: dict[str, Callable[[], Case]] = {
    "softmax of a warp": lambda: measured("softmax", 6, 200, "f16"),
    "softmax of a block": lambda: pinned(
        measured("softmax", 2, 3001, "f32"), fields(512, 512, 4, "1, 4096", "shift = 4 : i64")
    ),
    "layer norm in passes": lambda: measured("layer_norm", 2, 9001, "f16"),
    "columns": lambda: measured("column_sum", 300, 17, "f32"),
    "greatest of a row": lambda: reduced("arith.maximumf", 8, 3001, "f32"),
    "least of rows": lambda: reduced("arith.minimumf", 70, 13, "f32"),
    "quantised": lambda: quantised(5, 260),
    "a cluster": lambda: pinned(
        measured("layer_norm", 3, 500, "f32"), fields(64, 64, 2, "1, 256", "cluster = 2 : i64")
    ),
    "a grid": lambda: pinned(
        measured("rms_norm", 5, 500, "f32"), fields(64, 64, 2, "1, 128", "grid = 4 : i64, groups = 2 : i64")
    ),
    "places": lambda: _tied(chosen(4, 40, "f32", False)),
}


def _tied(case: Case) -> Case:
    """Rows with NaN, with equal elements, and with nothing but -inf."""
    a = case.arrays[0]
    a[0, 5:9] = np.nan
    a[1, 3::4] = 7
    a[2, :] = -np.inf
    return Case(case.text, case.arrays, [a.max(1).astype(np.float64), a.argmax(1).astype(np.float64)])


@lru_cache
def lowered(name: str) -> tuple[Case, str, str]:
    """A kernel with what stands around its code and the code."""
    case = KERNELS[name]()
    text = compiled(case).ir("lower")
    start = text.index("gpu.func")
    return case, text[:start], text[start:]


def is_noticed(name: str, code: str) -> bool:
    """Whether a run differs from what is right."""
    case, around, _ = lowered(name)
    arrays = case.fresh()
    try:
        report = simulate(around + code, arrays, Options(max_steps=200_000, first=True))
    except Error:
        return True
    if report.findings or report.stopped:
        return True
    try:
        case.check(arrays)
    except AssertionError:
        return True
    return False


LOADS = r"((?:vector|memref)\.load %arg0\[)(.*?), (%\w+)\]"
STORES = r"((?:vector|memref)\.store %\w+, %arg1\[)(.*?)(%\w+)\]"
MUTATIONS: dict[str, tuple[str, str, str]] = {
    "a barrier of a row": ("softmax of a block", r"\n *gpu\.barrier(?=\n)", ""),
    "a barrier in passes": ("layer norm in passes", r"\n *gpu\.barrier(?=\n)", ""),
    "a barrier of columns": ("columns", r"\n *gpu\.barrier(?=\n)", ""),
    "an exchange at another distance": ("softmax of a warp", r"(gpu\.shuffle xor %\w+, )%c(?!2_)\d+_i32", r"\1%c2_i32"),
    "an exchange of fewer lanes": ("greatest of a row", r"(gpu\.shuffle) xor (%\w+), %c8_i32", r"\1 xor \2, %c16_i32"),
    "an exchange downwards": ("softmax of a warp", r"gpu\.shuffle xor", "gpu.shuffle down"),
    "an exchange left out": ("quantised", r"(arith\.maximumf %\w+), %shuffleResult\w*", r"\1, %cst_of_nothing"),
    "the least for the greatest": ("greatest of a row", r"arith\.maximumf", "arith.minimumf"),
    "the greatest for the least": ("least of rows", r"arith\.minimumf", "arith.maximumf"),
    "a difference for a sum": ("columns", r"arith\.addf", "arith.subf"),
    "another neutral element of the greatest": ("softmax of a block", r"constant 0xFF800000", "constant 0x7F000000"),
    "another neutral element of the least": ("least of rows", r"0x7F800000", "0xFF000000"),
    "another neutral element of sums": ("columns", r"dense<-0\.0", "dense<1.0"),
    "an element too many": ("softmax of a block", r"cmpi ult, (%\w+), %c3001 :", r"cmpi ule, \1, %c3001 :"),
    "a row too many": ("columns", r"arith\.cmpi ult, (%\w+), %c300 :", r"arith.cmpi ule, \1, %c300 :"),
    "a column too many": ("columns", r"arith\.cmpi ult, (%\w+), %c17 :", r"arith.cmpi ule, \1, %c17 :"),
    "an access that is not held back": ("columns", r"arith\.minui", "arith.maxui"),
    "a load of the first row": ("softmax of a block", LOADS, r"\1%c0, \3]"),
    "a store to the first row": ("softmax of a block", STORES, r"\1%c0, \3]"),
    "a load of another row": ("quantised", LOADS, r"\1%c0, \3]"),
    "fragments that overlap": ("softmax of a block", r"constant 2048 :", "constant 2044 :"),
    "elements that nobody takes": ("softmax of a block", r"constant 2048 :", "constant 2052 :"),
    "rows that overlap": ("columns", r"constant 64 :", "constant 32 :"),
    "one buffer for two": ("softmax of a block", r"(memref\.view %\w+)\[%c128\]", r"\1[%c0]"),
    "too little shared memory": ("columns", r"to memref<1x32x16xf32, 3>", "to memref<1x16x16xf32, 3>"),
    "a partial result of another warp": ("layer norm in passes", r"(memref\.load %view\w*\[%c0), %\w+\]", r"\1, %c2]"),
    "a partial result twice": ("columns", r"(vector\.load %view\w*\[%c0), %c1,", r"\1, %c2,"),
    "every lane writes": ("columns", r"scf\.if %42 \{", "scf.if %true {"),
    "threads in another order": ("columns", r"(arith\.)remui( %thread_id_x, %c16 )", r"\1divui\2"),
    "a misaligned address": ("softmax of a block", r"(arith\.remui %block_id_x, )%c4", r"\1%c1"),
    "the largest left in": ("softmax of a block", r"arith\.subf %(11|17),", r"arith.addf %\1,"),
    "a wait left out": ("a cluster", r"\n *nvvm\.mbarrier\.try_wait[^\n]*", ""),
    "blocks that may not have started": ("a cluster", r"\n *nvvm\.cluster\.wait", ""),
    "a start that is not signalled": ("a cluster", r"\n *nvvm\.cluster\.arrive\.relaxed", ""),
    "an mbarrier that others do not know": ("a cluster", r"\n *nvvm\.fence\.mbarrier\.init", ""),
    "fewer bytes than come": ("a cluster", r"(arrive\.expect_tx %\w+, )%c8_i32", r"\1%c4_i32"),
    "handed to another block": ("a cluster", r"(nvvm\.mapa %\w+, )%\w+", r"\1%c0_i32"),
    "handed to the place of another": ("a cluster", r"index_castui %\w+ : i32", "index_castui %c0_i32 : i32"),
    "a block's own twice": ("a cluster", r"(memref\.load %view\w*\[%c0, %\w+, )%c1\]", r"\1%c0]"),
    "a tag that stays": ("a grid", r"(arith\.addi %\w+, )%c4294967296_i64", r"\1%no_tag"),
    "words that are not waited for": ("a grid", r"(scf\.condition\()%\w+", r"\1%never"),
    "the words of fewer blocks": ("a grid", r"arith\.minui %thread_id_x, %c3", "arith.minui %thread_id_x, %c2"),
    "one line for all groups": ("a grid", r"(divui %block_id_x, %c4 : index\n.*\n.*muli %\w+, )%c2", r"\1%c0"),
    "one line for all rows": ("a grid", r"(divui %arg\d, %c2 : index\n.*arith\.remui %\w+, )%c2", r"\1%c1"),
    "words that others write": ("a grid", r"arith\.cmpi eq, %thread_id_x, %c0", "arith.cmpi ne, %thread_id_x, %c0"),
    "a result that is not waited for": (
        "a grid", r"\n *gpu\.barrier(?=\n *%\w+ = memref\.load %view\w*\[%c0\] : memref<1xi32)", "",
    ),
    "the last of equal ones": ("places", r"arith\.cmpi slt, (%\w+), (%\w+) : i32", r"arith.cmpi sgt, \1, \2 : i32"),
    "a NaN that is passed over": ("places", r"arith\.cmpf uno, (%\w+), (%\w+) :", r"arith.cmpf one, \1, \2 :"),
    "another place": ("places", r"(arith\.select %\w+, )(%\w+), (%\w+) : i32", r"\1\3, \2 : i32"),
    "a product for a quotient": ("quantised", r"arith\.divf", "arith.mulf"),
}  # fmt: skip
"""The kernel, what is changed in its code, and what becomes of it. Values without a name in the code are given one."""
EVERYWHERE = ("an element too many", "a row too many", "a load of the first row", "a store to the first row",
              "a product for a quotient", "the last of equal ones", "a NaN that is passed over", "another place",
              "handed to another block", "a block's own twice", "an mbarrier that others do not know")  # fmt: skip
"""What is changed in all places at once: at some it changes nothing, as no thread gets there."""
NAMES = (
    "%true = arith.constant true\n%never = arith.constant false\n%cst_of_nothing = arith.constant 0.0 : f32\n"
    "%no_tag = arith.constant 0 : i64\n"
)


def mutants(name: str, pattern: str, becomes: str) -> Iterator[str]:
    """The code of a kernel with one place changed, for each place."""
    code = lowered(name)[2].replace("%thread_id_x =", NAMES + "%thread_id_x =", 1)
    for found in re.finditer(pattern, code):
        changed = found.expand(becomes)
        if changed != found[0]:
            yield code[: found.start()] + changed + code[found.end() :]


@pytest.mark.parametrize("name", KERNELS)
def test_as_it_is_nothing_is_noticed(name: str) -> None:
    assert not is_noticed(name, lowered(name)[2])


@pytest.mark.parametrize("what", MUTATIONS)
def test_a_change_is_noticed(what: str) -> None:
    kernel, pattern, becomes = MUTATIONS[what]
    code = lowered(kernel)[2]
    changed = [re.sub(pattern, becomes, code)] if what in EVERYWHERE else list(mutants(kernel, pattern, becomes))
    assert changed and code not in changed
    silent = [number for number, code in enumerate(changed[:6]) if not is_noticed(kernel, code)]
    assert silent == []
