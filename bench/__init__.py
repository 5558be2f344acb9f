"""Products side by side with cuBLAS, cuBLASLt, Triton and torch.compile: `mlir-gemm bench`; see docs/benchmarks.md."""
