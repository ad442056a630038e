# `make` lists the targets. `make report` and `make test` need Python >= 3.11 and a package index, nothing else.
# Other Python: make report PYTHON=/path/to/python3.12

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV ?= .venv
EXTRAS ?= test
UV_VERSION := 0.13.8
JOBS ?= 2

PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
NOTEBOOKS := $(wildcard notebooks/*.ipynb)

# Where this is set, Python stores no bytecode, and every notebook kernel compiles pandas anew (about four times slower).
export PYTHONDONTWRITEBYTECODE :=

# ---------------------------------------------------------------------------------------------------- environment

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: $(STAMP) ## make or update .venv from requirements.lock

# One line if there is no usable Python, and nothing else happens.
search = sh tools/find-python.sh $(PYTHON)
find_python = $(or $(shell $(search) 2>/dev/null),$(error $(shell $(search) 2>&1)))

$(PY):
	@echo "Making $(VENV) with $(find_python)"
	@$(find_python) -m venv --clear $(VENV)

# uv does not read pip's configuration: an index that is set for pip is handed on.
$(STAMP): pyproject.toml requirements.lock Makefile | $(PY)
	@echo "Installing into $(VENV) (about half a minute the first time)"
	@$(PY) -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@index=$${UV_DEFAULT_INDEX:-$${UV_INDEX_URL:-$${PIP_INDEX_URL:-$$($(PY) -m pip config get global.index-url 2>/dev/null)}}}; \
	 if [ -n "$$index" ]; then UV_DEFAULT_INDEX=$$index; export UV_DEFAULT_INDEX; fi; \
	 if [ -n "$$PIP_CERT" ]; then SSL_CERT_FILE=$${SSL_CERT_FILE:-$$PIP_CERT}; export SSL_CERT_FILE; fi; \
	 $(PY) -m uv pip install --quiet --python $(PY) -c requirements.lock -e '.[$(EXTRAS)]'
	@touch $@

.PHONY: lock
lock: | $(PY) ## resolve the dependencies anew into requirements.lock (UPGRADE=1 for the newest versions)
	@$(PY) -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(PY) -m uv pip compile --quiet --universal --python-version 3.11 --all-extras \
	    --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' \
	    $(if $(UPGRADE),--upgrade) pyproject.toml -o requirements.lock

# --------------------------------------------------------------------------------------------------------- results

.PHONY: data
data: setup ## import every study of data/raw into data/processed
	@$(PY) -m azlatency import --all

.PHONY: report
report: data ## import the data, run the notebooks, write build/site/index.html
	@$(PY) -m azlatency report --out build/site

.PHONY: picture
picture: report ## take the picture of the README anew, from the report (Chromium)
	@$(PY) tools/picture.py build/site docs/images/report.png

.PHONY: notebooks
notebooks: data ## run the notebooks and store their outputs in notebooks/
	@$(PY) -m azlatency.site.build --store

.PHONY: lab
lab: ## open the notebooks in JupyterLab (environment of its own, .venv-lab: JupyterLab slows every kernel)
	@$(MAKE) setup VENV=.venv-lab EXTRAS=test,lab
	@.venv-lab/bin/python -m jupyterlab notebooks

# ----------------------------------------------------------------------------------------------------------- tests

.PHONY: test
test: lint data ## lint, types, tests, and the stored outputs of the notebooks
	@echo "Tests"
	@$(PY) -m pytest -q -n $(JOBS) -m "not slow" tests
ifneq ($(NOTEBOOKS),)
	@echo "Notebooks"
	@$(PY) -m pytest -q -n $(JOBS) --dist loadfile --nbval --nbval-current-env --nbval-sanitize-with tests/nbval.cfg notebooks
endif

.PHONY: test-slow
test-slow: data ## the tests that take long
	@$(PY) -m pytest -q -n $(JOBS) -m slow tests

.PHONY: bench
bench: data ## what the project costs, as ratios to peers measured in the same run
	@$(PY) -m benchmarks

.PHONY: loading
loading: report ## how long every page of the report takes to open, and its size (Chromium; some minutes)
	@$(PY) tools/loading.py build/site

.PHONY: fixtures
fixtures: setup ## run the real tools between network namespaces and read what they print (root; tools from the system)
	@$(PY) tools/real_tools.py

.PHONY: conformance
conformance: setup ## compare the parsers with every log of ../shared/corpus, where it is
	@$(PY) tools/conformance

.PHONY: lint
lint: setup ## ruff and mypy
	@echo "Lint and types"
	@$(PY) -m ruff check --quiet .
	@$(PY) -m ruff format --quiet --check . || { echo "not formatted as above: make format"; exit 1; }
	@$(PY) -m mypy --no-error-summary azlatency

.PHONY: format
format: setup ## format the code and sort the imports
	@$(PY) -m ruff check --quiet --select I --fix .
	@$(PY) -m ruff format --quiet .

.PHONY: clean
clean: ## remove everything that is built, but keep .venv
	@rm -rf build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find data/processed -mindepth 1 -not -name README.md -delete
	@find . -path './.venv*' -prune -o -name __pycache__ -type d -exec rm -rf {} +
