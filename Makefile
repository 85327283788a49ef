# Needs only Python >= 3.11 with pip and venv, and make. Each target sets up
# what it needs in .venv; `make PYTHON=python3.12 test` picks the interpreter.

PYTHON  ?= python3
VENV    := .venv
# In Git's shell on Windows too, where environments have another folder for programs.
FOLDER  := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN     := $(VENV)/$(FOLDER)
READY   := $(VENV)/.ready
OTHERS  := .cache/others
FLOORS  := .cache/floors
# Warnings are errors; pages that did not change are not read again.
SITE    := docs/_build
SPHINX   = $(BIN)/python -m sphinx -W --keep-going -q -d $(SITE)/doctrees
PEERS   := .cache/peers
RELEASE := .cache/release
# Test processes; more than the number of cores does not help.
JOBS    ?= 2
# By file, so that what the tests of a file share is made once; those of the cluster are together (conftest.py).
PYTEST   = $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --max-worker-restart 0

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-all test-statistical test-gpu test-nojit test-others test-floors check docs docs-links bench bench-peers paper paper-full release-check clean

help: ## Show this list
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | awk -F '\t' '{printf "  make %-18s %s\n", $$1, $$2}'

# Redone only when the dependencies or the tested versions change.
$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' -c constraints.txt
	@touch $@

demo: $(READY) ## Fit 2,000 abstracts and show their topics
	$(BIN)/franchise demo

test: $(READY) ## Run the fast tests (under 4 minutes on two cores)
	$(PYTEST)

test-all: $(READY) ## Run all that CI runs: browser, cluster, kills, faults, tutorials, benchmarks, experiments, tools too
	$(PYTEST) -m "not statistical and not large and not gpu" --durations 50 tests benchmarks experiments tools

# By worksteal, not by file: one file has a third of the time.
test-statistical: $(READY) ## Run the long tests of distributions
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "statistical and not large" tests experiments

# Where there is a GPU, with CuPy in the environment: `.venv/bin/pip install -e '.[gpu]'`.
test-gpu: $(READY) ## Run the tests that need a GPU
	$(BIN)/python -m pytest -c pyproject.toml -W default -m gpu tests/gpu

test-nojit: $(READY) ## Run the tests marked nojit with the JIT off, with coverage of the kernels
	$(BIN)/python -m coverage erase
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run -m pytest -m "nojit and not statistical and not large"
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

test-others: ## Run the tests with other people's libraries, which have an environment of their own
	test -x $(OTHERS)/$(FOLDER)/python || $(PYTHON) -m venv $(OTHERS)
	$(OTHERS)/$(FOLDER)/python -m pip install --quiet --disable-pip-version-check -e '.[others]'
	$(OTHERS)/$(FOLDER)/python -m pytest -rs -p no:dash tests/unit/corpus/test_other_libraries.py tests/integration/test_renderers.py benchmarks/tests/test_peers.py

# Warnings are not errors here, because old versions and new ones warn about each other.
test-floors: ## Run the unit tests with the oldest versions of all packages, in an environment of their own
	test -x $(FLOORS)/$(FOLDER)/python || $(PYTHON) -m venv $(FLOORS)
	$(FLOORS)/$(FOLDER)/python tools/floors.py > $(FLOORS)/constraints.txt
	$(FLOORS)/$(FOLDER)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' -c $(FLOORS)/constraints.txt
	NUMBA_CACHE_DIR='$(CURDIR)/$(FLOORS)/numba' $(FLOORS)/$(FOLDER)/python -m pytest -n $(JOBS) --dist loadfile -W default tests/unit tests/golden

check: $(READY) ## Lint, format, types, layers, file lengths, private names, prose
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/file_lengths.py
	$(BIN)/python tools/private_names.py
	$(BIN)/python tools/prose.py

$(VENV)/.docs-ready: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]' -c constraints.txt
	@touch $@

docs: $(VENV)/.docs-ready ## Build the site into docs/_build/html (no network), run its doctests, check its links
	$(SPHINX) -b html docs $(SITE)/html
	$(BIN)/python -m pytest -q --doctest-modules -o python_files= src/franchise
	$(BIN)/python tools/site_links.py $(SITE)/html

docs-links: $(VENV)/.docs-ready ## Check the site's links to other sites too, which needs the network
	$(SPHINX) -b linkcheck docs $(SITE)/linkcheck

bench: $(READY) ## Time the sampler, and measure how well it mixes (20 minutes)
	$(BIN)/python -m benchmarks.sweep
	$(BIN)/python -m benchmarks.mixing planted cost

bench-peers: ## Compare with other packages, in an environment of its own (30 minutes); DATA=folder with reuters.npz and ap.npz
	test -x $(PEERS)/$(FOLDER)/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/$(FOLDER)/python -m pip install --quiet --disable-pip-version-check -e '.[peers]'
	$(PEERS)/$(FOLDER)/python -m benchmarks.peers $(if $(DATA),--data '$(DATA)') --out $(PEERS)/found

paper: $(READY) ## Rerun the paper's experiments, a few runs of each (5 minutes)
	$(BIN)/python -m experiments all --quick

paper-full: $(READY) ## Rerun all of them (hours); CORPORA=folder with mlir/ and nips/ in it
	$(BIN)/python -m experiments all --full $(if $(CORPORA),--corpora '$(CORPORA)')

# PYTHONS="3.11 3.12" tries these only; by default each from 3.11 to 3.14 that is found.
release-check: ## Build sdist and wheel, look into them, and try the wheel in new environments (8 minutes)
	test -x $(RELEASE)/$(FOLDER)/python || $(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/$(FOLDER)/python -m pip install --quiet --disable-pip-version-check 'build>=1.2' 'twine>=6.1'
	$(RELEASE)/$(FOLDER)/python tools/release_check.py $(if $(PYTHONS),--pythons '$(PYTHONS)')

clean: ## Remove everything that make and the tests created
	rm -rf $(VENV) .cache .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	rm -rf build dist $(SITE) docs/gallery docs/sg_execution_times.rst
	find src tests examples docs benchmarks experiments tools -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
