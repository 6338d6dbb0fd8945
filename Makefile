# Everything a developer or CI runs. `make` alone lists the targets.
# PYTHON chooses the interpreter for a new environment: make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist worksteal

# Test runs start Python many times, and compiling everything each time costs more than some tests.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo walkthrough test test-fast test-thorough test-cluster check pictures flame-graph modules-page schemas go-types feature-gates format bench bench-live fuzz-apiserver dist clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(STAMP) ## Watch 1,000 pods come to 100 simulated nodes; until Ctrl-C
	$(BIN)/podium demo

walkthrough: $(STAMP) ## Run a scheduler with a plugin of its own from manifests, see where a pod goes
	$(BIN)/python examples/sample-plugin/play.py

test: $(STAMP) ## Run the tests; the first run creates the environment
	$(PYTEST)

test-fast: $(STAMP) ## Run the tests that need no processes and little time, with short searches
	HYPOTHESIS_PROFILE=fast $(PYTEST) -m "not cluster and not slow"

test-thorough: $(STAMP) ## Run the tests with four times as many examples per property: before a release
	HYPOTHESIS_PROFILE=thorough $(PYTEST)

test-cluster: $(STAMP) ## Compare with a real control plane: KUBEBUILDER_ASSETS, or what setup-envtest has
	$(BIN)/python -m pytest -m cluster -rs tests/control_plane

check: $(STAMP) ## Check format, lint, types and layers, then run the tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict src/podium
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory test

pictures: $(STAMP) ## Draw the pictures of the README anew: the recorded demo and the plot of speeds
	$(BIN)/python docs/pictures/demo.py
	$(BIN)/python docs/pictures/speed.py

flame-graph: $(STAMP) ## Sample a running scheduler: where the CPU time of a pod goes, as a table and as docs/pictures/flame.svg
	$(BIN)/python -m benchmarks.flame_graph

modules-page: ## Write docs/modules.md anew, after adding, moving or removing a module
	$(PYTHON) docs/modules.py

schemas: $(STAMP) ## Pack the schemas of the Kubernetes releases anew, from kubernetes-validate
	$(BIN)/python tools/pack_schemas.py

go-types: $(STAMP) ## Write the facts about a release's Go types anew (KUBERNETES=path of a checkout RELEASE=1.37)
	$(BIN)/python tools/go_types.py $(or $(KUBERNETES),$(error KUBERNETES=path/to/kubernetes is missing)) $(or $(RELEASE),$(error RELEASE=1.37 is missing))

feature-gates: $(STAMP) ## Write the feature gates of a release anew (KUBERNETES=path of a checkout RELEASE=1.37)
	$(BIN)/python tools/feature_gates.py $(or $(KUBERNETES),$(error KUBERNETES=path/to/kubernetes is missing)) $(or $(RELEASE),$(error RELEASE=1.37 is missing))

format: $(STAMP) ## Format the code and apply the safe fixes of the linter
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

bench: $(STAMP) ## Run the benchmarks of the cycle alone
	$(BIN)/podium bench $(filter-out benchmarks/live.yaml,$(wildcard benchmarks/*.yaml))

bench-live: $(STAMP) ## Run the benchmarks of a whole scheduler, on the embedded cluster
	$(BIN)/podium bench --embedded benchmarks/live.yaml

fuzz-apiserver: $(STAMP) ## Send 20,000 seeded requests to the embedded API server (SEED=n, COUNT=n)
	$(BIN)/python -m tests.support.apiserver_fuzz $(or $(COUNT),20000) $(or $(SEED),1)

dist: $(STAMP) ## Build the wheel and the source distribution in dist/, and check what they contain
	rm -rf build dist
	$(BIN)/python -m build --quiet --no-isolation --outdir dist .
	$(BIN)/python tools/check_distribution.py

clean: ## Remove the environment, caches and build products
	rm -rf $(VENV) build dist src/*.egg-info .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests -type d -name __pycache__ -prune -exec rm -rf {} +

# One environment with the pinned dependencies and podium itself, installed to run from this tree.
# setuptools is pinned as well, so that building podium downloads nothing else.
$(STAMP): requirements.lock pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -c 'import sys; sys.version_info < (3, 11) and \
		sys.exit("podium needs Python 3.11 or newer, for example: make test PYTHON=python3.11")'
	@echo "Installing podium and its pinned dependencies into $(VENV): once, for a minute or two"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@
