"""`python -m mlir_gemm`: the command line."""

from __future__ import annotations

import sys

from mlir_gemm.tools.main import main

if __name__ == "__main__":
    sys.exit(main())
