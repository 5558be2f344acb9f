"""Which row of the table a GPU is: by its name, by what its driver says, by what the user measured of it."""

from __future__ import annotations

import json
import math
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mlir_gemm.bench.chip_figures import chip_of_figures
from mlir_gemm.errors import DeviceError, TargetError
from mlir_gemm.parts.mma.wgmma.constants import WgmmaConstants
from mlir_gemm.runtime import device, own_chip
from mlir_gemm.tile_model.chips import CHIPS, FIGURES, PRODUCTS, RATES, chip_name, target
from mlir_gemm.tile_model.recognise import recognise

GPUS = {
    ("NVIDIA H200", "sm_90a", 132, 1.98, 60, 4.81): "sm_90a",
    ("NVIDIA H100 80GB HBM3", "sm_90a", 132, 1.98, 50, 3.35): "sm_90a:h100sxm",
    ("NVIDIA H100 PCIe", "sm_90a", 114, 1.755, 50, 2.04): "sm_90a:h100pcie",
    ("NVIDIA H100 NVL", "sm_90a", 132, 1.785, 50, 3.94): "sm_90a:h100nvl",
    ("NVIDIA GH200 480GB", "sm_90a", 132, 1.98, 60, 4.02): "sm_90a:gh200",
    ("NVIDIA H200 MIG 1g.18gb", "sm_90a", 16, 1.98, 7.5, 0.6): "sm_90a:sms=16,l2=7.5,dram=0.54",
    ("NVIDIA H20", "sm_90a", 78, 1.98, 60, 4.0): "sm_90a:sms=78,dram=3.6",
    ("NVIDIA A100-SXM4-40GB", "sm_80", 108, 1.41, 40, 1.555): "sm_80:a10040gb",
    ("NVIDIA A100 80GB PCIe", "sm_80", 108, 1.41, 40, 1.94): "sm_80",
    ("NVIDIA A30", "sm_80", 56, 1.44, 24, 0.933): "sm_80:sms=56,l2=24,dram=0.8397",
    ("NVIDIA A10", "sm_86", 72, 1.695, 6, 0.6): "sm_86",
    ("NVIDIA GeForce RTX 3090", "sm_86", 82, 1.695, 6, 0.936): "sm_86:rtx3090",
    ("NVIDIA GeForce RTX 3080", "sm_86", 68, 1.71, 5, 0.76): "sm_86:rtx3090,sms=68,l2=5,dram=0.684",
    ("NVIDIA RTX A6000", "sm_86", 84, 1.8, 6, 0.768): "sm_86:rtxa6000",
    ("NVIDIA L4", "sm_89", 58, 2.04, 48, 0.3): "sm_89:l4",
    ("NVIDIA GeForce RTX 4090", "sm_89", 128, 2.52, 72, 1.008): "sm_89",
    ("Tesla T4", "sm_75", 40, 1.59, 4, 0.32): "sm_75:clock=1.59",
    ("NVIDIA GeForce RTX 2080 Ti", "sm_75", 68, 1.545, 5.5, 0.616): "sm_75:rtx2080ti",
    ("Tesla V100-SXM2-16GB", "sm_70", 80, 1.53, 6, 0.9): "sm_70",
    ("Orin", "sm_87", 16, 1.3, 4, 0.2): "sm_87",
}
"""As drivers name them: SMs, highest clock, L2, memory on paper; and the chip that each is."""


@pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: str(gpu[0]))
def test_a_gpu_is_the_row_of_its_name_or_the_nearest(gpu: tuple[str, str, int, float, float, float]):
    name, arch, sms, clock, l2, dram = gpu
    found = recognise(name, arch, {"sms": sms, "clock": clock, "l2": l2, "dram": dram})
    assert found.chip == GPUS[gpu]
    assert chip_name(found.chip) == found.chip
    row = target(found.chip)
    assert (row.arch, row.sms) == (arch, sms)
    assert ("as the driver says" in found.why) == ("=" in found.chip)


def test_a_gpu_of_which_nothing_is_known_is_its_compute_capability():
    assert recognise("NVIDIA Something", "sm_89", {}).chip in PRODUCTS.values()
    assert recognise("NVIDIA X1000", "sm_999", {"sms": 3}) == ("sm_999", "the table has no row of sm_999")


def test_a_lower_power_limit_lowers_the_clock():
    asked = {"sms": 132, "clock": 1.98, "l2": 60, "dram": 4.81}
    assert recognise("NVIDIA H200", "sm_90a", {**asked, "power": 1.0}).chip == "sm_90a"
    found = recognise("NVIDIA H200", "sm_90a", {**asked, "power": 0.5})
    assert found.chip == "sm_90a:clock=1.315" and "50% of the product's" in found.why
    assert recognise("Tesla T4", "sm_75", {"clock": 1.59, "power": 0.5}).chip == "sm_75:clock=1.229"


@pytest.mark.parametrize("product", sorted(PRODUCTS))
def test_products_are_rows_of_their_compute_capability(product: str):
    row, base = target(product), CHIPS[target(product).arch]
    assert row.chip == PRODUCTS[product]
    assert (row.capabilities, row.smem_block) == (base.capabilities, base.smem_block)
    assert row.fitted == base.fitted or product.startswith("h100"), "the H100 was measured too"
    assert row.generation == base.generation
    assert 0.1 < row.l2_bytes_s / (row.sms * row.clock_hz * 64) < 2
    assert row.dram_bytes_s < row.l2_bytes_s


def test_figures_replace_those_of_a_row():
    row = target("H100 PCIe, sms=100, dram=1.5")
    assert row.chip == "sm_90a:h100pcie,sms=100,dram=1.5"
    assert row.name == "H100 PCIe with sms=100, dram=1.5"
    whole = target("h100pcie")
    assert (row.sms, row.dram_bytes_s, row.l2_bytes) == (100, 1.5e12, whole.l2_bytes)
    assert math.isclose(row.l2_bytes_s, whole.l2_bytes_s * 100 / 114)
    assert target("sm_80:l2rate=3").l2_bytes_s == 3e12
    assert (target("sm_80:clock=1,tensor=1000").clock_hz, target("80:tensor=1000").tensor_flops_clock_sm) == (1e9, 1000)
    assert target("sm_100a:sms=20").arch == "sm_100a"


@pytest.mark.parametrize(
    ("chip", "reason"),
    [
        ("h100:hbm", "'hbm' is no product of that chip, and no figure; expected sms"),
        ("sm_80:rtx3090", "'rtx3090' is sm_86, not sm_80"),
        ("sm_80:sms=0", "sms=0; expected sms, streaming multiprocessors, from 1 to 1024"),
        ("sm_80:sms=1.5", "sms=1.5; expected sms"),
        ("sm_80:dram=fast", "dram=fast; expected dram, TB/s of memory"),
        ("sm_80:dram=nan", "dram=nan; expected dram"),
        ("sm_80:memory=1", "'memory=1' is no product"),
        ("sm_80:,", "'' is no product"),
    ],
)
def test_other_figures_are_refused(chip: str, reason: str):
    with pytest.raises(TargetError, match=f"chip '{chip}': {reason}"):
        target(chip)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A driver that shows an H100 of PCIe, and a table of the user's that is not there yet."""
    numbers = {"MULTIPROCESSOR_COUNT": 114, "CLOCK_RATE": 1755000, "L2_CACHE_SIZE": 50 << 20,
               "MEMORY_CLOCK_RATE": 1593000, "GLOBAL_MEMORY_BUS_WIDTH": 5120, "COMPUTE_CAPABILITY_MAJOR": 9,
               "COMPUTE_CAPABILITY_MINOR": 0}  # fmt: skip
    driver = type("Driver", (), {
        "CUdevice_attribute": types.SimpleNamespace(**{f"CU_DEVICE_ATTRIBUTE_{name}": name for name in numbers}),
        "cuDeviceGet": lambda ordinal: (0, ordinal),
        "cuDeviceGetAttribute": lambda attribute, handle: (0, numbers[attribute]),
        "cuDeviceGetPCIBusId": lambda size, handle: (0, b"0000:3B:00.0\0\0"),
        "cuDeviceGetName": lambda size, handle: (0, b"NVIDIA H100 PCIe\0\0"),
    })  # fmt: skip
    monkeypatch.setattr(device, "find_driver", lambda: driver)
    monkeypatch.setenv(own_chip.VARIABLE, str(tmp_path / "chips.json"))
    yield tmp_path / "chips.json"
    own_chip._of_gpu.cache_clear()


def _nvml(limit: int = 245_000, default: int = 350_000) -> Any:
    """Stands in for `pynvml`: a GPU at a place of the bus, its power limits in mW."""

    def own(gpu: str) -> int:
        if not default:
            raise RuntimeError("NVML_ERROR_NOT_SUPPORTED")
        return default

    places = {"0000:3B:00.0": "gpu"}
    return types.SimpleNamespace(
        nvmlInit=lambda: None, nvmlShutdown=lambda: None,
        nvmlDeviceGetHandleByPciBusId=places.__getitem__,
        nvmlDeviceGetPowerManagementDefaultLimit=own, nvmlDeviceGetEnforcedPowerLimit=lambda gpu: limit,
    )  # fmt: skip


@pytest.mark.parametrize(("nvml", "clock"), [(_nvml(), ",clock=1.419"), (_nvml(350_000), ""), (_nvml(default=0), "")])
def test_the_power_limit_is_asked_for(gpu: Path, monkeypatch: pytest.MonkeyPatch, nvml: Any, clock: str):
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    own_chip._of_gpu.cache_clear()
    assert own_chip.default_chip() == f"sm_90a:h100pcie{clock}"


def test_without_nvml_the_power_limit_is_not_known(gpu: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    own_chip._of_gpu.cache_clear()
    assert own_chip.default_chip() == "sm_90a:h100pcie"


def _write(path: Path, content: Any) -> None:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    own_chip._of_gpu.cache_clear()


def test_what_the_user_measured_comes_first(gpu: Path):
    assert own_chip.own_chip() == ("sm_90a:h100pcie", "by its name, NVIDIA H100 PCIe")
    entry = {"chip": "sm_90a:sms=114,clock=1.2"}
    _write(gpu, {"format": own_chip.FORMAT, "gpus": {"NVIDIA H100 PCIe": entry, "NVIDIA L4": {"chip": "sm_89:l4"}}})
    assert own_chip.default_chip() == "sm_90a:sms=114,clock=1.2"
    assert str(gpu) in own_chip.own_chip().why
    assert own_chip.measured() == {"NVIDIA H100 PCIe": "sm_90a:sms=114,clock=1.2", "NVIDIA L4": "sm_89:l4"}


_OWN = "NVIDIA H100 PCIe"


@pytest.mark.parametrize(
    ("content", "reason"),
    [("", "cannot be read"), ("[]", "is no table of chips of format 1"),
     ('{"format": 99, "gpus": {}}', "is no table of chips of format 1"),
     ({"format": 1, "gpus": {_OWN: {"chip": "sm_90a:fast"}}}, "has no chip that this version knows: sm_90a:fast"),
     ({"format": 1, "gpus": {_OWN: {}}}, "has no chip"), ({"format": 1, "gpus": {_OWN: 3}}, "has no chip"),
     ({"format": 1, "gpus": {_OWN: {"chip": "sm_80"}}}, "is sm_80, and this GPU is sm_90a")],
)  # fmt: skip
def test_what_cannot_be_read_of_a_table_counts_for_nothing(gpu: Path, content: Any, reason: str):
    _write(gpu, content)
    found = own_chip.own_chip()
    assert found.chip == "sm_90a:h100pcie"
    assert str(gpu) in found.why and reason in found.why and found.why.endswith("measure again with mlir-gemm probe")


def test_a_damaged_entry_is_its_gpus_alone(gpu: Path):
    others = {"NVIDIA L4": {"clip": 1}, "NVIDIA T4": None, "NVIDIA A10": {"chip": ["sm_86"]}}
    _write(gpu, {"format": 1, "gpus": {**others, _OWN: {"chip": "sm_90a:sms=114"}}})
    assert own_chip.measured() == {_OWN: "sm_90a:sms=114"}
    assert own_chip.default_chip() == "sm_90a:sms=114"


def test_the_table_can_be_turned_off(gpu: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(own_chip.VARIABLE, "off")
    assert own_chip.table_path() is None
    assert own_chip.measured() == {}


def test_without_a_driver_the_reason_is_told(monkeypatch: pytest.MonkeyPatch):
    def absent() -> Any:
        raise DeviceError("no driver\nat all")

    monkeypatch.setattr(device, "find_driver", absent)
    assert own_chip.own_chip() == ("sm_80", "no driver")


def test_figures_of_a_probe_become_a_chip():
    """What was measured on the H200 gives the H200's row; what was not is left to the row."""
    kept = Path(__file__).parents[2] / "bench" / "results" / "2026-11-24-h200-chip.json"
    chip = chip_of_figures(json.loads(kept.read_text())["figures"], "sm_90a")
    assert set(chip.partition(":")[2].replace(",", "=").split("=")[::2]) == set(FIGURES) - set(RATES)
    found, h200 = target(chip), CHIPS["sm_90a"]
    for figure in ("sms", "clock_hz", "tensor_flops_clock_sm", "l2_bytes", "l2_bytes_s", "dram_bytes_s"):
        assert math.isclose(getattr(found, figure), getattr(h200, figure), rel_tol=1e-3)
    assert chip_of_figures({"device": {"sms": 3}, "dram": "failed"}, "sm_80") == "sm_80:sms=3"
    assert chip_of_figures({}, "sm_80") == "sm_80"


def test_a_probed_product_keeps_its_constants():
    """The H100 has constants of its own, which the probe does not measure."""
    figures = {"device": {"name": "NVIDIA H100 80GB HBM3", "sms": 132}, "dram": {"copy_bytes_s": 3.0e12}}
    chip = chip_of_figures(figures, "sm_90a")
    assert chip.startswith("sm_90a:h100sxm,sms=132,dram=")
    own, h200 = (target(name).constants(WgmmaConstants) for name in (chip, "sm_90a"))
    assert own.turned > 1 > h200.turned and own.l2 == h200.l2
    assert chip_of_figures({"device": {"name": "NVIDIA H200", "sms": 132}}, "sm_90a") == "sm_90a:sms=132"
