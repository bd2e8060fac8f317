# Two commands for a newcomer: `make demo` and `make test`. Both do all their own set-up.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
LOWEST := .venv-lowest
PIP     = $(BIN)/python -m pip install -qq --disable-pip-version-check

.PHONY: demo test test-browser lint bench test-lowest clean

demo: $(VENV)/.core
	$(BIN)/elegans reproduce frontier --scale quick --out out

test: lint
	$(BIN)/python -m pytest

# The explorer in a real browser: the system's Chromium, which is installed if that is possible.
test-browser: $(VENV)/.browser
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null \
	  || { apt-get update -qq && apt-get install -y -qq chromium chromium-driver; } >/dev/null 2>&1 \
	  || { echo "make test-browser needs chromium and chromedriver: apt-get install chromium chromium-driver" >&2; exit 1; }
	$(BIN)/python -m pytest -n 0 tests/browser

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

# The suite on the oldest versions that pyproject.toml allows.
test-lowest: $(LOWEST)/.test
	$(LOWEST)/bin/python -m pytest

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"elegans needs Python 3.11 or newer; {sys.executable} is {v.major}.{v.minor}. Run: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.core
	$(PIP) --constraint constraints.txt --editable '.[test]'
	@touch $@

$(VENV)/.browser: $(VENV)/.test
	$(PIP) --constraint constraints.txt --editable '.[browser]'
	@touch $@

$(VENV)/.bench: $(VENV)/.test
	$(PIP) --constraint constraints.txt --editable '.[bench]'
	@touch $@

$(LOWEST)/.test: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install -qq --disable-pip-version-check --constraint constraints-lowest.txt --editable '.[test]'
	@touch $@

clean:
	rm -rf $(VENV) $(LOWEST) out
