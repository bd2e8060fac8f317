# Two commands for a newcomer: `make demo` and `make test`. Both do all their own set-up.
# The first of these that is new enough; or say PYTHON=/path/to/python.
PYTHON ?= $(firstword $(foreach p,python3 python3.13 python3.12 python3.11,$(shell $(p) -c \
  'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $(p))) python3)
VENV   := .venv
BIN    := $(VENV)/bin
LOWEST := .venv-lowest
# Interpreters on which `make dist` tests the wheel, and where `make gallery` takes bundles from.
PYTHONS ?= python3.11 python3.12 python3.13
FROM    ?= out
PIP     = $(BIN)/python -m pip install -qq --disable-pip-version-check

.PHONY: demo test test-browser lint bench test-lowest docs gallery dist clean

demo: $(VENV)/.core
	$(BIN)/elegans reproduce frontier --scale quick --out out

test: lint
	$(BIN)/python -m pytest

# The explorer in a real browser: the system's Chromium, which is installed if that is possible.
test-browser: $(VENV)/.browser
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null \
	  || { apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium chromium-driver; } >/dev/null \
	  || { echo "make test-browser needs chromium and chromedriver: apt-get install chromium chromium-driver" >&2; exit 1; }
	$(BIN)/python -m pytest -n 0 tests/browser

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

# The site, in out/docs, always whole; a warning is an error.
docs: $(VENV)/.test
	$(BIN)/python -m sphinx -q -E -a -W --keep-going -b html -d out/doctrees docs out/docs
	@echo "The site is out/docs/index.html"

# Keeps the small files of the bundles in FROM for the gallery, in docs/results, and renews what
# pages quote of them.
gallery: $(VENV)/.test
	$(BIN)/python -m docs.site.keep $(FROM)
	$(BIN)/python -m docs.site.quote

# The wheel, by way of the source distribution, tested in an empty environment of each Python.
dist: $(VENV)/.dist
	$(BIN)/python -m release.check $(PYTHONS)

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

$(VENV)/.dist: $(BIN)/python constraints.txt
	$(PIP) --constraint constraints.txt build
	@touch $@

$(LOWEST)/.test: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install -qq --disable-pip-version-check --constraint constraints-lowest.txt --editable '.[test]'
	@touch $@

clean:
	rm -rf $(VENV) $(LOWEST) out dist docs/api docs/gallery
