"""The modules that the guards compile, each by a text that stands in the list of cases."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
sys.path.insert(0, str(Path(__file__).parents[1] / "gpu"))

from dynamic_products import DynamicProduct
from group_products import GroupProduct
from random_products import Product

from mlir_gemm.bench import modules, problems

ROOT = Path(__file__).resolve().parents[2]
DTYPES = "|".join(problems.ELEMENTS)
_BENCH = re.compile(rf"(\d+)x(\d+)x(\d+) ({DTYPES})(?:->(\w+))? ([NT]{{2}})(?: (\w+))?")


def files(kind: str) -> list[str]:
    """The names of the files of a kind, `module` or `example`."""
    return sorted(path.stem for path in _folder(kind).glob("*.mlir"))


def source(text: str) -> str:
    """The MLIR of a text:

    bench 4096x4096x4096 f16 NT bias       a problem of the benchmark, by its name
    module linear_f16, example matmul_256  a file; here gram_bf16: one beside this one
    product m=8,n=16,k=32,kind=bf16,...    fields of `Product` in test/gpu/random_products.py; `element` is put in the
                                           place of its element type
    group 64x64x64-mk-kn-f16-f16-gelu      a product of test/python/group_products.py
    dynamic n=64,k=64,bias=on              one of test/python/dynamic_products.py: the sizes that are constant, fields
    """
    kind, _, rest = text.partition(" ")
    if kind == "bench":
        return modules.module(problem(rest))
    if kind in ("module", "example"):
        return (_folder(kind) / f"{rest}.mlir").read_text()
    if kind == "here":
        return Path(__file__).with_name(f"{rest}.mlir").read_text()
    if kind == "group":
        size, a, b, element, out, *steps = rest.split("-")
        m, n, k = map(int, size.split("x"))
        return GroupProduct(m, n, k, element, out, a, b, tuple(steps)).source()
    fields = {name: _value(value) for name, _, value in (item.partition("=") for item in rest.split(","))}
    if kind == "product":
        element = fields.pop("element", None)
        product = Product(**fields)
        return product.module().replace(product.kind, element) if element else product.module()
    if kind == "dynamic":
        fixed = {name: fields.pop(name) for name in "mnk" if name in fields}
        return DynamicProduct(fixed, **fields).source()
    raise ValueError(f"'{text}': unknown kind of source '{kind}'")


def problem(name: str) -> problems.Problem:
    """The benchmark's problem of a name."""
    found = _BENCH.fullmatch(name)
    if not found:
        raise ValueError(f"'{name}' is no name of a problem of the benchmark")
    m, n, k, dtype, out, layout, epilogue = found.groups()
    return problems.Problem(
        "", int(m), int(n), int(k), dtype, out or problems.RESULTS[dtype], layout, epilogue or "none"
    )


def _folder(kind: str) -> Path:
    return ROOT / {"module": "test/modules", "example": "examples"}[kind]


def _value(text: str) -> int | bool | str:
    if text in ("on", "off"):
        return text == "on"
    return int(text) if text.isdigit() else text
