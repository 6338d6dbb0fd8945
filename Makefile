# Everything a developer or CI runs. `make` alone lists the targets.
# PYTHON chooses the interpreter for a new environment: make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist worksteal

# Seconds that a test may take in long searches: a state machine of some minutes does not hang.
LONG := 3600

# Test runs start Python many times, and compiling everything each time costs more than some tests.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo walkthrough test test-fast test-thorough test-cluster test-image check audit pictures screenshots axe-core flame-graph modules-page rbac explain-schema schemas go-types feature-gates format bench bench-live fuzz fuzz-apiserver failover endurance dist clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(STAMP) ## A story in a minute: a cluster fills, a zone fails, a pod waits, and what helps; until Ctrl-C
	$(BIN)/podium demo

walkthrough: $(STAMP) ## Run a scheduler with a plugin of its own from manifests, see where a pod goes
	$(BIN)/python examples/sample-plugin/play.py

test: $(STAMP) ## Run the tests; the first run creates the environment
	$(PYTEST)

test-fast: $(STAMP) ## Run the tests that need no processes and little time, with short searches
	HYPOTHESIS_PROFILE=fast $(PYTEST) -m "not cluster and not image and not slow"

test-thorough: $(STAMP) ## Run the tests with four times as many examples per property: before a release
	HYPOTHESIS_PROFILE=thorough $(PYTEST) --timeout $(LONG)

test-cluster: $(STAMP) ## Compare with a real control plane: KUBEBUILDER_ASSETS, or what setup-envtest has
	$(BIN)/python -m pytest -m cluster -rs tests/control_plane

test-image: $(STAMP) ## Carry out deploy/Dockerfile in a fresh Debian root and run podium from it; needs root and mmdebstrap
	$(BIN)/python -m pytest -m image -s tests/image

check: $(STAMP) ## Check format, lint, types and layers, then run the tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict src/podium
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory test

audit: $(STAMP) ## Look for known problems of what the image installs, with pip-audit from the package index
	test -x build/audit/bin/pip-audit || { $(BIN)/python -m venv build/audit && build/audit/bin/python -m pip install --quiet pip-audit==2.10.1; } || true
	$(BIN)/python tools/audit.py build/audit/bin/pip-audit

pictures: $(STAMP) ## Draw the pictures of the README anew: a film of the demo and the plot of speeds
	$(BIN)/python docs/pictures/demo.py
	$(BIN)/python docs/pictures/speed.py

screenshots: $(STAMP) ## Photograph every screen of the dashboard into build/screenshots, and those of the docs; needs Chromium
	$(BIN)/python docs/pictures/dashboard.py

axe-core: ## Fetch the checker of accessibility that tests of the dashboard use, from npm, into build/
	mkdir -p build && cd build && npm pack --silent axe-core@4.14.0 && tar -xzf axe-core-4.14.0.tgz --strip-components=1 package/axe.min.js && rm axe-core-4.14.0.tgz

flame-graph: $(STAMP) ## Sample a running scheduler: where the CPU time of a pod goes, as a table and as docs/pictures/flame.svg
	$(BIN)/python -m benchmarks.flame_graph

modules-page: ## Write docs/modules.md anew, after adding, moving or removing a module
	$(PYTHON) docs/modules.py

explain-schema: $(STAMP) ## Write docs/explain-schema.json anew, after a change of explanations
	$(BIN)/python tools/explain_schema.py

rbac: $(STAMP) ## Write deploy/base/cluster-role.yaml anew, after podium sends another request or watches another kind
	$(BIN)/python tools/rbac.py

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

fuzz: $(STAMP) ## Feed mangled input to every decoder, fifty times as long as the tests do
	HYPOTHESIS_PROFILE=fuzz $(PYTEST) --timeout $(LONG) tests/fuzz

fuzz-apiserver: $(STAMP) ## Send 20,000 seeded requests to the embedded API server (SEED=n, COUNT=n)
	$(BIN)/python -m tests.support.apiserver_fuzz $(or $(COUNT),20000) $(or $(SEED),1)

failover: $(STAMP) ## Kill and freeze leaders on a real control plane, podium's and kube-scheduler's
	$(BIN)/python -m benchmarks.failover

endurance: $(STAMP) ## Run 24 simulated hours of churn, broken watches and reloads; memory must stay flat
	$(BIN)/python -m podium.chaos.endurance

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
	$(BIN)/python -m compileall -q src/podium  # where Python may not write, each start would compile it
	@touch $@
