# `make report` and `make test` work on a machine with python3 (3.11 or later, with venv), make and a package index.

PYTHON ?= $(shell for candidate in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$candidate" && break; done)
BIN := .venv/bin
# Errors alone: mirrors and indexes of a machine make pip print a warning for every package.
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet
INTERPRETED := $(addprefix tests/,$(addsuffix .py,scoring/test_evaluation scoring/test_counting \
	scoring/test_arrays codes/test_codes kernels/test_err_variance))
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4

# Tests start commands and collect in several processes, each of which would compile all files anew.
unexport PYTHONDONTWRITEBYTECODE

# Where Spark's tests are skipped, its parts do not count for coverage (see pyproject.toml).
UNTESTED = RETRIEVAL_REPORT_UNTESTED=$$(cd tests/helpers && ../../$(BIN)/python -c 'import spark_sessions; print("spark" if spark_sessions.missing() else "-")')

.PHONY: help report dashboard test coverage fuzz spark seeds docs lint format wheel benchmark clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /make \1 – /p' $(firstword $(MAKEFILE_LIST))

report: .venv/installed ## score the two samples, print the summary, write report/
	@$(BIN)/retrieval-report demo --out report

dashboard: .venv/installed-app ## look at the samples in a browser
	@$(BIN)/retrieval-report dashboard

test: .venv/installed-dev ## run the tests and doctests; with EVERYTHING=yes the slow ones and those of Spark too
	$(PYTEST) --durations=30 $(if $(EVERYTHING),,-m "not slow and not spark")

coverage: .venv/installed-dev ## run all tests and say which lines no test reaches (two to three times as long as test)
	@# Coverage cannot look into compiled kernels: the tests that reach all of them run once more, first, interpreted.
	NUMBA_DISABLE_JIT=1 $(PYTEST) $(INTERPRETED) -m "not compiled" \
		--cov --cov-report= --cov-fail-under=0
	$(UNTESTED) $(PYTEST) --cov --cov-append

fuzz: .venv/installed-dev ## read damaged files and odd texts of metrics for ten minutes, then try every property on 2 000 examples
	$(BIN)/python tests/attacks/fuzz.py --files 1000000 --metrics 1000000 --seconds 300
	HYPOTHESIS_PROFILE=fuzz $(PYTEST) -m hypothesis

spark: .venv/installed-spark ## run the tests on Spark alone (installs it: 450 MB; needs Java 17 or 21)
	RETRIEVAL_REPORT_FORBID_SKIPS=1 $(PYTEST) -m spark tests/spark tests/cli/test_cli_spark.py

seeds: .venv/installed-dev ## run TF Similarity and KerasRS beside the package (installs TensorFlow: 2 GB)
	@$(PIP) install --editable '.[seeds]'
	$(BIN)/python -m pytest tests/conformance/test_seeds.py

docs: .venv/installed-docs ## build the documentation site into build/docs, without network, and check its links
	$(BIN)/python -m sphinx -q -E -W --keep-going -j 2 -d build/doctrees -b html docs build/docs
	$(BIN)/python docs/check_links.py build/docs
	@echo "open build/docs/index.html"

lint: .venv/installed-dev ## check format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: .venv/installed-dev ## format, and mend what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

wheel: .venv/installed-dev ## build dist/*.tar.gz, and dist/*.whl from it
	$(BIN)/python -m build

benchmark: .venv/installed-dev ## time it beside other evaluators (some minutes; installs PyTorch for some of them), into benchmarks/*.md
	@$(PIP) install --editable '.[peers]'
	$(BIN)/python benchmarks/peers.py --out benchmarks/peers.md
	$(BIN)/python benchmarks/codes.py --out benchmarks/codes.md
	$(BIN)/python benchmarks/kernels.py --out benchmarks/kernels.md
	$(BIN)/python benchmarks/growth.py --out benchmarks
	$(BIN)/python benchmarks/expressions.py --out benchmarks
	$(BIN)/python benchmarks/latency.py --out benchmarks/latency.md
	$(BIN)/python benchmarks/latency.py --check --out benchmarks/ratios.md

clean: ## remove what the other targets made
	rm -rf .venv report build dist .coverage .coverage.* htmlcov .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/benchmarks docs/generated
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# pip is the last thing venv makes, so it stands for a whole environment.
$(BIN)/pip:
	@if [ -z "$(PYTHON)" ]; then echo "Python 3.11 or later is needed and was not found; set PYTHON=/path/to/it" >&2; exit 1; fi
	@"$(PYTHON)" -m venv .venv || { echo "$(PYTHON) cannot make a virtual environment; on Debian: apt install python3-venv" >&2; exit 1; }

.venv/installed: pyproject.toml $(BIN)/pip
	@echo "Installing retrieval_report and what it needs into .venv; this takes a minute or more …"
	@$(PIP) install --editable .
	@touch $@

.venv/installed-app: pyproject.toml $(BIN)/pip
	@echo "Installing retrieval_report and what its dashboard needs into .venv …"
	@$(PIP) install --editable '.[app]'
	@touch .venv/installed $@

.venv/installed-dev: pyproject.toml $(BIN)/pip
	@echo "Installing retrieval_report and what its tests need into .venv …"
	@$(PIP) install --editable '.[dev]'
	@touch .venv/installed $@

.venv/installed-docs: pyproject.toml $(BIN)/pip
	@echo "Installing retrieval_report and what its documentation needs into .venv …"
	@$(PIP) install --editable '.[docs]'
	@touch .venv/installed $@

.venv/installed-everything: pyproject.toml $(BIN)/pip
	@echo "Installing retrieval_report and what its tests, its documentation and Apache Spark need into .venv …"
	@$(PIP) install --editable '.[dev,docs,spark]'
	@touch .venv/installed .venv/installed-dev .venv/installed-docs .venv/installed-spark $@

.venv/installed-spark: .venv/installed-dev
	@echo "Installing Apache Spark into .venv …"
	@$(PIP) install --editable '.[spark]'
	@touch $@
