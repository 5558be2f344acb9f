"""`mma_sync` on stages that the copy engine fills, as machine code: what the assembler makes of it."""

from __future__ import annotations

import re

import pytest
from assembled import instructions, usage
from group_products import GroupProduct

from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.schedule import Schedule

CHIP = "sm_90a"
ORDERS = [(a, b) for a in ("mk", "km") for b in ("kn", "nk")]


def ptx_of(a: str, b: str, fields: str = "") -> str:
    """A large product by the model's choice for `mma_sync`."""
    product = GroupProduct(8192, 8192, 8192, out="f16", a=a, b=b)
    compiled = compile_module(product.source(), chip=CHIP, schedule=Schedule.parse(f"mma=mma_sync{fields}"))
    assert "cp.async.bulk.tensor" in compiled.ptx
    return compiled.ptx


@pytest.mark.parametrize(("a", "b"), ORDERS)
def test_nothing_spills(a: str, b: str) -> None:
    used = usage(ptx_of(a, b), CHIP)
    assert (used.spill_bytes, used.warnings) == (0, ())


@pytest.mark.parametrize(("a", "b"), ORDERS)
def test_a_stage_is_given_back_once_what_was_loaded_is_there(a: str, b: str) -> None:
    """The arrival's address needs the count of bits of what was loaded: should an assembler see that nothing is left of
    it, the stage would be given back too early."""
    code = instructions(ptx_of(a, b), CHIP)
    (count,) = [place for place, each in enumerate(code) if each.startswith("POPC ")]
    assert any("LDSM" in each for each in code[:count])
    (counted,) = re.findall(r"POPC (R\d+),", code[count])
    needs = next(each for each in code[count + 1 :] if re.search(rf", {counted}\b", each))
    (address,) = re.findall(r"^[\w.]+ (R\d+),", needs)
    arrival = next(each for each in code[count + 1 :] if "SYNCS.ARRIVE" in each)
    assert f"[{address}" in arrival


def test_a_step_is_products_and_little_else() -> None:
    """Of 128 products, 32 loads of fragments and some twenty others: each costs a clock of the tensor cores."""
    code = instructions(ptx_of("mk", "nk"), CHIP)
    products = [place for place, each in enumerate(code) if each.startswith("HMMA.16816.F32")]
    assert len(products) == 128
    inside = code[products[0] : products[-1]]
    others = [each for each in inside if not each.startswith(("HMMA", "LDSM"))]
    assert len(others) <= 25, others
