"""Which folders are which packages: every folder at the top that holds one is a part of `mlir_gemm`.

All else stands in pyproject.toml.
"""

from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
NOT_INSTALLED = ("mlir_gemm", "test", "examples", "docs", "build")


def folders() -> dict[str, str]:
    """The folder of each package, by its name."""
    found = {"mlir_gemm": "mlir_gemm"}
    tops = (path.parent.name for path in ROOT.glob("*/__init__.py"))
    for top in sorted(name for name in tops if name not in NOT_INSTALLED):
        inside = (f"{top}.{name}" for name in find_packages(str(ROOT / top)))
        found |= {f"mlir_gemm.{name}": name.replace(".", "/") for name in [top, *inside]}
    return found


if __name__ == "__main__":
    setup(
        packages=list(folders()),
        package_dir=folders(),
        package_data={
            "mlir_gemm": ["py.typed"],
            "mlir_gemm.viewer": ["page.*"],
            "mlir_gemm.bench": ["papers/*.toml"],
            "mlir_gemm.tuner": ["study.html"],
        },
    )
