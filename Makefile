# Two commands are enough: `make run` and `make test`. Both work from a clean clone with Python 3.11 or later.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
PORT ?= 8501
BIN := .venv/bin

.PHONY: run models test test-all shuffle hunt lint types bench docs clean

run: .venv/run .venv/models  ## start the app at http://localhost:8501 (another port: make run PORT=8600)
	PYTHONDONTWRITEBYTECODE= $(BIN)/streamlit run app.py --server.port $(PORT)

models: .venv/run  ## install two real models, MiniLM and SmolLM2 (180 MB), as the first `make run` does
	@$(BIN)/python -m attention get-models

# Compiled files are written regardless of the environment: otherwise each server compiles the whole app, a second of its start.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses 2 --dist loadscope --no-loadscope-reorder

test: .venv/dev  ## run the tests; some of them: make test ARGS="tests/test_masks.py -x"
	@$(BIN)/python -m tests.chromium
	@$(BIN)/python -m tests.nginx
	@$(PYTEST) -m "not extended" $(ARGS)

test-all: test models  ## run the tests, then those that take long, laws on all their examples, and shapes and types of the whole package
	@ALL_EXAMPLES=1 CHECK_ALL_TYPES=1 $(PYTEST) -m "extended or hypothesis" $(ARGS)

shuffle: .venv/dev  ## run the tests of each file in random order; repeat an order with: make shuffle ARGS=--random-order-seed=SEED
	@$(MAKE) --no-print-directory test ARGS="--random-order-bucket=module $(ARGS)"

hunt: .venv/dev  ## run property tests on new random cases; cases that failed are tried first the next time
	@ALL_EXAMPLES=1 $(BIN)/python -m pytest --numprocesses 2 -m hypothesis --hypothesis-profile=default $(ARGS)

lint: .venv/dev types  ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

types:  ## check the types of the browser's modules; skipped without npm, which is an error if CI=true
	@if command -v npm >/dev/null; then $(MAKE) --silent node_modules/.installed && node_modules/.bin/tsc; \
	elif [ "$$CI" = true ]; then echo "No npm here: the types of what runs in the browser can't be checked." >&2; exit 1; \
	else echo "No npm here: the types of what runs in the browser were skipped."; fi

bench: .venv/dev  ## measure what the docs claim (see benchmarks/__init__.py)
	@$(BIN)/python -m tests.chromium
	$(BIN)/python -m benchmarks

docs: .venv/dev  ## build the API reference from the docstrings: docs/api/index.html
	$(BIN)/python -m docs.build_api docs/api

clean:  ## remove everything that the commands above created
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis node_modules docs/api
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamp files: a second call starts immediately, and a changed requirements file is installed again.
.venv/run: requirements.txt
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed, $(PYTHON) is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12")'
	"$(PYTHON)" -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

# The app also runs without the models: a failed download is reported once, and `make models` tries again.
.venv/models: .venv/run
	@$(BIN)/python -m attention get-models || true
	@touch $@

node_modules/.installed: package.json
	npm install --silent --no-audit --no-fund --no-package-lock
	@touch $@

.venv/dev: .venv/run requirements-dev.txt requirements-dask.txt requirements-models.txt requirements-notebook.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@
