# `make` lists the targets. `make report` and `make test` need only Python >= 3.11 and a package index.
# To use another Python: make report PYTHON=/path/to/python3.12

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV ?= .venv
EXTRAS ?= test,scale
UV_VERSION := 0.13.8
NOX_VERSION := 2026.10.20
ATHERIS_VERSION := 3.0.0
JOBS ?= 2
# The client of echo_test, which `make truth` uses; without it, the echo test is left out.
ECHO_CLIENT ?= echo_client.py

PY := $(VENV)/bin/python
STAMP = $(VENV)/.installed-$(EXTRAS)
NOTEBOOKS := $(wildcard notebooks/*.ipynb)

# If this variable is set, Python stores no bytecode and every notebook kernel compiles pandas again (about four times slower).
export PYTHONDONTWRITEBYTECODE :=

# OpenBLAS waits for its threads by spinning, which costs about 5 % of the CPU time of the tests; the matrices here are small.
export OPENBLAS_NUM_THREADS ?= 1

# ---------------------------------------------------------------------------------------------------- environment

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: $(STAMP) ## create or update .venv from requirements.lock

# If there is no usable Python, print one line and stop.
search = sh tools/find-python.sh $(PYTHON)
find_python = $(or $(shell $(search) 2>/dev/null),$(error $(shell $(search) 2>&1)))

$(PY):
	@echo "Creating $(VENV) with $(find_python)"
	@$(find_python) -m venv --clear $(VENV)

# uv does not read the configuration of pip, so pass the index of pip on. uv checks the hashes of the lock. The bytecode is
# compiled here because containers often set PYTHONDONTWRITEBYTECODE, which makes every start compile all modules again.
$(STAMP): pyproject.toml requirements.lock Makefile | $(PY)
	@echo "Installing into $(VENV) (about half a minute the first time)"
	@$(PY) -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@index=$${UV_DEFAULT_INDEX:-$${UV_INDEX_URL:-$${PIP_INDEX_URL:-$$($(PY) -m pip config get global.index-url 2>/dev/null)}}}; \
	 if [ -n "$$index" ]; then UV_DEFAULT_INDEX=$$index; export UV_DEFAULT_INDEX; fi; \
	 export UV_COMPILE_BYTECODE_TIMEOUT=600; \
	 if [ -n "$$PIP_CERT" ]; then SSL_CERT_FILE=$${SSL_CERT_FILE:-$$PIP_CERT}; export SSL_CERT_FILE; fi; \
	 $(PY) -m uv pip install --quiet --compile-bytecode --python $(PY) -c requirements.lock -b requirements.lock -e '.[$(EXTRAS)]'
	@$(PY) -m compileall -q azlatency
	@touch $@

.PHONY: lock
lock: | $(PY) ## update requirements.lock (UPGRADE=1 for the newest versions)
	@$(PY) -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(PY) -m uv pip compile --quiet --universal --python-version 3.11 --all-extras \
	    --generate-hashes --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' \
	    $(if $(UPGRADE),--upgrade) pyproject.toml -o requirements.lock

# --------------------------------------------------------------------------------------------------------- results

.PHONY: data
data: setup ## import every study of data/raw into data/processed
	@$(PY) -m azlatency import --all

.PHONY: report
report: data ## import the data, execute the notebooks, build build/site/index.html
	@$(PY) -m azlatency report --out build/site

.PHONY: docs
docs: ## build the documentation with the reference of the library, build/docs/index.html; warnings are errors
	@$(MAKE) setup EXTRAS=$(EXTRAS),docs
	@$(PY) -m sphinx -q -W --keep-going -d build/doctrees docs build/docs

.PHONY: docs-links
docs-links: docs ## check the links of the documentation that lead to the web (needs a network)
	@$(PY) -m sphinx -q -b linkcheck -d build/doctrees docs build/links

.PHONY: picture
picture: report ## take the screenshot for the README from the report (needs Chromium)
	@$(PY) tools/picture.py build/site docs/images/report.png

.PHONY: notebooks
notebooks: data ## execute the notebooks and store their outputs in notebooks/
	@$(PY) -m azlatency.site.build --store

.PHONY: lab
lab: ## open the notebooks in JupyterLab (in a separate environment, .venv-lab)
	@$(MAKE) setup VENV=.venv-lab EXTRAS=test,scale,lab
	@.venv-lab/bin/python -m jupyterlab notebooks

# ----------------------------------------------------------------------------------------------------------- tests

MARKS := not slow and not costly

.PHONY: test
test: lint data ## run ruff, mypy, the notebooks and all tests but the costly and the slow ones
	@echo "Tests and notebooks"
	@PYTHONPATH=tests $(PY) -m pytest -q -n $(JOBS) --dist loadfile -m "$(MARKS)" -p helpers.shared_kernel \
	    --nbval --nbval-current-env --nbval-sanitize-with tests/nbval.cfg tests $(NOTEBOOKS)

.PHONY: test-all
test-all: MARKS := not slow
test-all: test ## run make test with the costly tests (continuous integration does)

.PHONY: test-matrix
test-matrix: setup ## run make test-all with every installed Python of 3.11 to 3.14
	@$(PY) -m uv tool run --quiet nox==$(NOX_VERSION)

.PHONY: test-slow
test-slow: data ## run the tests that take long (installs more: a Dask cluster and an object store of this machine)
	@$(MAKE) setup EXTRAS=test,scale,dask,aws,azure,google,slow
	@$(PY) -m pytest -q -n $(JOBS) -m slow tests

.PHONY: bench
bench: data ## compare the cost of parsing and statistics with other libraries (takes minutes)
	@$(MAKE) setup EXTRAS=test,scale,dask,bench
	@$(PY) -m benchmarks $(PARTS)

.PHONY: bench-store
bench-store: ## show the last result of make bench in docs/benchmarks.md, and compare later ones with it
	@$(PY) -m benchmarks.results

.PHONY: coverage
coverage: setup ## simulate how often verdicts are right; update docs/questions/truth.md (takes minutes)
	@$(PY) tools/coverage

.PHONY: loading
loading: report ## measure load time, size and words of every page of the report (needs Chromium; takes minutes)
	@$(PY) tools/loading.py build/site

.PHONY: fixtures
fixtures: setup ## run the installed tools between network namespaces and parse their output (needs root)
	@$(PY) tools/real_tools.py

.PHONY: fuzz
fuzz: setup ## classify 200,000 damaged logs by what the parsers make of them (takes minutes)
	@cd tests && ../$(PY) -m helpers.fuzz $(or $(MUTANTS),200000) $(or $(SEED),1)

.PHONY: load
load: setup ## import 10,000 logs, build a report of 1,000, and kill imports and reports at random moments (takes minutes)
	@$(PY) tools/crash_and_load.py

.PHONY: fuzz-guided
fuzz-guided: setup ## search texts that break a parser, guided by code coverage (TOOLS="ping fio" SECONDS=60)
	@rm -rf build/fuzz/seeds
	@VIRTUAL_ENV=$(abspath $(VENV)) $(PY) -m uv run --quiet --no-project --with atheris==$(ATHERIS_VERSION) \
	    python tools/guided_fuzz.py $(or $(SECONDS),60) $(TOOLS)

.PHONY: truth
truth: setup ## record the emulated studies again on an idle machine (needs root; takes half an hour)
	@for study in emulated-zones emulated-cloud; do \
	    $(PY) tools/rig/measure.py tools/rig/$$study.toml data/raw/$$study --echo-client $(ECHO_CLIENT) || exit 1; \
	    $(PY) -m azlatency import --study $$study || exit 1; \
	done
	@$(PY) tools/rig/check.py

.PHONY: conformance
conformance: setup ## check the parsers against every log of ../shared/corpus, if it exists
	@$(PY) tools/conformance

.PHONY: lint
lint: setup ## run ruff and mypy
	@echo "Lint and types"
	@$(PY) -m ruff check --quiet .
	@$(PY) -m ruff format --quiet --check . || { echo "some files are not formatted; run make format"; exit 1; }
	@$(PY) -m mypy --no-error-summary azlatency benchmarks docs/conf.py tests/helpers/wrong_uses.py

.PHONY: format
format: setup ## format the code and sort the imports
	@$(PY) -m ruff check --quiet --select I --fix .
	@$(PY) -m ruff format --quiet .

.PHONY: dist
dist: setup ## build the source distribution and the wheel in dist/
	@$(PY) -m uv build --quiet --out-dir dist

.PHONY: clean
clean: ## remove all generated files except .venv
	@rm -rf build dist docs/api .nox .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find data/processed -mindepth 1 -not -name README.md -delete
	@find . -path './.venv*' -prune -o -name __pycache__ -type d -exec rm -rf {} +
