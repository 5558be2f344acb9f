# Two jobs, each from a clean clone: `make demo` compiles what PyTorch exported, shows its IR on the way and runs it, on
# the GPU or in the simulator; `make test` checks everything.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
FOLDERS := spec parts dialect pipeline lowering passes tile_model runtime simulator viewer tracing tools bench tuner

# Hundreds of processes load the same modules: each is compiled once, by the first that loads it. Of the packages that
# are installed most are never loaded: pip leaves them as they are, in half the time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test checks lint types docs lit pytest clean

demo: $(VENV)/installed
	@mkdir -p build
	$(BIN)/mlir-gemm compile examples/torch_linear_gelu.mlir --emit accumulate --print-after all -o build/linear_gelu.mlir
	$(BIN)/mlir-gemm compile build/linear_gelu.mlir --report -o build/linear_gelu.ptx
	$(BIN)/mlir-gemm run examples/torch_linear_gelu.mlir
	$(BIN)/python examples/torch_mlp.py

test: checks pytest

# pyright has one thread, and pages take a second: lit's tests run beside them.
checks: lint
	$(MAKE) -j 3 types docs lit

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-test
	rm -rf build/typecheck && mkdir -p build/typecheck
	cp -rs $(CURDIR)/mlir_gemm build/typecheck/
	cp -rs $(addprefix $(CURDIR)/,$(FOLDERS)) build/typecheck/mlir_gemm/
	mkdir build/typecheck/examples && ln -s $(CURDIR)/examples/typed.py build/typecheck/examples/
	$(BIN)/pyright --pythonpath $(BIN)/python
	MYPYPATH=build/typecheck $(BIN)/mypy --strict --follow-imports=silent --cache-dir=build/mypy examples/typed.py

docs: $(VENV)/installed-test
	$(BIN)/mkdocs build --strict --quiet

lit: $(VENV)/installed-test
	$(BIN)/lit -j 2 test

pytest: $(VENV)/installed-test
	$(BIN)/pytest -n 2 --dist worksteal

$(VENV)/installed: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --no-compile --editable .
	@touch $@

$(VENV)/installed-test: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --no-compile --editable '.[test]'
	@touch $@ $(VENV)/installed

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf build $(VENV) *.egg-info
