# Two commands matter: `make run` and `make test`. Both set up what they need by themselves.

PYTHON ?= $(shell command -v python3 || command -v python)
PORT ?= 5000
# `make test ARGS="-k tasks"`
ARGS ?=
export PORT

TOOL := @$(PYTHON) -m scripts.tool

.DEFAULT_GOAL := help
.PHONY: help run test quick sure format lint types bench wheel image versions pin digests sbom settings errors api hooks records snippets docs screens texts

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Set up what is missing and serve on http://127.0.0.1:5000 (PORT=… for another port)
	@$(PYTHON) -m scripts.run

test: ## Run the whole suite; PostgreSQL, Redis and Chromium count where they are there
	$(TOOL) scripts.suite $(ARGS)

quick: ## A room's tests in under a minute, on SQLite alone: make quick ARGS=tests/auth
	$(TOOL) pytest -n auto --dist worksteal -m "not waiting and not alone" -k "not postgresql" $(ARGS)

sure: format lint types test ## Format, then everything that must hold before a commit

format: ## Bring the code into form
	$(TOOL) ruff check --quiet --select I --fix .
	$(TOOL) ruff format .

lint: ## Check form and habits
	$(TOOL) ruff check .
	$(TOOL) ruff format --check .

types: ## Check the types
	$(TOOL) mypy

bench: ## Measure
	$(TOOL) bench

wheel: ## Build dist/flask_frontdesk-….whl
	$(TOOL) build --wheel --no-isolation

image: ## Build the image and see it start (Debian, as root, with buildah and mmdebstrap)
	@$(PYTHON) -m scripts.image

versions: ## Test with the lowest and with the newest versions of all dependencies (as image; takes minutes)
	$(TOOL) scripts.versions $(ARGS)

pin: ## Write requirements.txt and requirements-dev.txt anew (ARGS=--upgrade for newer packages)
	$(TOOL) scripts.pin $(ARGS)

digests: ## Write the images' digests into compose.yaml and the Dockerfile (docker or skopeo, and a registry)
	$(TOOL) scripts.digests

sbom: ## Write the list of what Frontdesk is made of anew, for programs and for people
	$(TOOL) scripts.sbom

settings: ## Write docs/settings.md anew from the code
	$(TOOL) scripts.settings

errors: ## Write docs/error-codes.md and the proxies' error responses from the code
	$(TOOL) scripts.error_codes

api: ## Write docs/http-api/ from the OpenAPI document
	$(TOOL) scripts.http_api

hooks: ## Write the tables in docs/hooks/ anew from the code
	$(TOOL) scripts.hooks

records: ## Write the tables in docs/records.md anew from the code
	$(TOOL) scripts.records

snippets: ## Write the code in the documentation anew from the files it is taken from
	$(TOOL) scripts.snippets

docs: ## Build the documentation as a site, in build/docs; a warning is an error
	$(TOOL) sphinx --builder html --fail-on-warning --keep-going --quiet docs build/docs

screens: ## Take the documentation's pictures anew, with Chromium
	$(TOOL) scripts.screens

texts: ## Gather the texts of the console's pages for translators, and compile their translations
	$(TOOL) scripts.texts
