# Start with `make run` or `make test`: both set up what they need.

PYTHON ?= $(shell command -v python3 || command -v python)
PORT ?= 5000
# `make test ARGS="-k tasks"`
ARGS ?=
export PORT

TOOL := @$(PYTHON) -m scripts.tool

.DEFAULT_GOAL := help
.PHONY: help run test quick sure format lint types bench soak wheel image versions pin digests sbom settings errors api features cli hooks audit-log records scopes snippets docs screens texts release

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Set up and serve on http://127.0.0.1:5000 (PORT=… for another port)
	@$(PYTHON) -m scripts.run

test: ## Run all tests; uses PostgreSQL, Redis and Chromium if installed
	$(TOOL) scripts.suite $(ARGS)

quick: ## Run the fast tests of a package on SQLite: make quick ARGS=tests/auth
	$(TOOL) pytest -n auto --dist worksteal -m "not waiting and not alone" -k "not postgresql" $(ARGS)

sure: format lint types test ## Format, lint, check types and run all tests before a commit

format: ## Format the code
	$(TOOL) ruff check --quiet --select I --fix .
	$(TOOL) ruff format .

lint: ## Lint the code and check the format
	$(TOOL) ruff check .
	$(TOOL) ruff format --check .

types: ## Check the types
	$(TOOL) mypy

bench: ## Run the benchmarks
	$(TOOL) bench

soak: ## Kill each server of a deployment once under load (ARGS="--minutes 2"; nginx, Redis, RabbitMQ, PostgreSQL)
	$(TOOL) tests.rigs.soak $(ARGS)

wheel: ## Build dist/flask_frontdesk-….whl
	$(TOOL) build --wheel --no-isolation

image: ## Build the container image and start it (Debian, as root, with buildah and mmdebstrap)
	@$(PYTHON) -m scripts.image

versions: ## Test with the lowest and the newest versions of all dependencies, in LibreOffice, and the React example (as image; takes minutes)
	$(TOOL) scripts.versions $(ARGS)

pin: ## Write requirements.txt and requirements-dev.txt (ARGS=--upgrade for newer packages)
	$(TOOL) scripts.pin $(ARGS)

digests: ## Update the image digests in the Compose files and the Dockerfile (docker or skopeo, and a registry)
	$(TOOL) scripts.digests

sbom: ## Update the software bill of materials and the list of licenses
	$(TOOL) scripts.sbom

settings: ## Update docs/settings.md
	$(TOOL) scripts.settings

errors: ## Write docs/error-codes.md and the proxies' error responses from the code
	$(TOOL) scripts.error_codes

api: ## Write docs/http-api/ from the OpenAPI document
	$(TOOL) scripts.http_api

features: ## Write the table of the paths that settings switch off
	$(TOOL) scripts.feature_routes

cli: ## Write docs/cli.md from the help of the commands
	$(TOOL) scripts.cli

hooks: ## Update the tables in docs/hooks.md and docs/signals.md
	$(TOOL) scripts.hooks

audit-log: ## Update the tables in docs/audit-log.md
	$(TOOL) scripts.audit_log

# The name before.
records: audit-log

scopes: ## Update the table of scopes in docs/tokens.md
	$(TOOL) scripts.scopes

snippets: ## Update the code in the documentation from its source files
	$(TOOL) scripts.snippets

docs: ## Build the documentation as a site, in build/docs; a warning is an error
	$(TOOL) sphinx --builder html --fail-on-warning --keep-going --quiet docs build/docs

screens: ## Update the documentation's screenshots, with Chromium
	$(TOOL) scripts.screens

texts: ## Extract the texts for translators, update translations and show what they lack (ARGS=de adds a language)
	$(TOOL) scripts.texts $(ARGS)

release: ## Check that the translations are complete and the images recent, and build dist/flask_frontdesk-….whl
	$(TOOL) scripts.release
