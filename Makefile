# Everything a newcomer needs: `make quote` and `make test` set up what they use. `make help` lists the rest.

PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
SOURCES := kvplan tests
TOOLS := soffice pdftoppm dot xorriso mcopy mkfs.vfat qemu-system-x86_64 cloud-init netplan vtysh shellcheck sshd systemd-nspawn dnf createrepo_c iperf3 sudo faketime
RACK := --model openai/gpt-oss-120b --context 130k --gpus 8 --profile standard-8
RACKS := $(addprefix tests/integration/,test_rack.py test_rack_clock.py test_rehearsal.py)
QUOTE := --model openai/gpt-oss-120b --context 130k --gpus 128

export PATH := $(CURDIR)/$(BIN):$(PATH):/usr/sbin:/sbin

.DEFAULT_GOAL := help
.PHONY: help quote system test rack rehearse check lint types contracts docstrings playbooks-lint golden docs lock clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 18

quote: $(VENV)/.runtime ## size the reference request, save quote/plan.json, print the table
	@mkdir -p quote
	@$(BIN)/kvplan size $(QUOTE) -o quote/plan.json

system: ## install the system packages that some tests use (Debian, as root); tests that lack them are skipped
	@if (for tool in $(TOOLS); do command -v $$tool || exit 1; done) >/dev/null; then echo "system packages are there"; \
	else apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	apt-get install -y -qq --no-install-recommends $$(grep -v '^#' packages.txt) >/dev/null; fi

test: $(VENV)/.dev ## run every test with the coverage gate
	@$(BIN)/python -m pytest --cov --cov-report=term

rack: $(VENV)/.dev ## raise a rack of system containers, try what it can do, and take it down (as root)
	KVPLAN_RACK=1 $(BIN)/python -m pytest -q --no-cov $(RACKS)

rehearse: system $(VENV)/.dev ## deploy the reference system to a simulated rack of this machine, twice, then as a check (as root)
	@mkdir -p quote
	@$(BIN)/kvplan size $(RACK) -o quote/rehearsal.json > /dev/null
	@$(BIN)/kvplan rehearse quote/rehearsal.json --again --check

check: lint types contracts docstrings playbooks-lint ## ruff, mypy, import contracts, docstrings, playbooks

lint: $(VENV)/.dev ## ruff check and ruff format --check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev ## mypy --strict over package and tests
	$(BIN)/mypy $(SOURCES) benchmarks/*.py docs/generate.py examples/fleets.py

contracts: $(VENV)/.dev ## who may import whom
	$(BIN)/lint-imports --no-cache

docstrings: $(VENV)/.dev ## docstrings name the parameters that there are
	$(BIN)/pydoclint --quiet kvplan

playbooks-lint: $(VENV)/.dev ## ansible-lint over playbooks/, with its own modules and roles
	cd playbooks && ANSIBLE_LIBRARY=plugins/modules ANSIBLE_MODULE_UTILS=plugins/module_utils ANSIBLE_ROLES_PATH=roles \
	$(CURDIR)/$(BIN)/ansible-lint --offline --profile production -q .

golden: $(VENV)/.dev ## rewrite tests/golden/ from what kvplan says now; review it as a diff
	KVPLAN_REGENERATE_GOLDEN=1 $(BIN)/python -m pytest -q -m "not slow" tests

docs: $(VENV)/.dev ## write docs/plan-format.md and docs/cli.md anew from the schema and the verbs
	$(BIN)/python docs/generate.py

lock: ## pin what a clean environment gets today into constraints.txt
	rm -rf .lock-venv
	$(PYTHON) -m venv .lock-venv
	.lock-venv/bin/python -m pip --disable-pip-version-check --quiet install --upgrade pip
	.lock-venv/bin/python -m pip --disable-pip-version-check --quiet install --editable '.[deploy]' --group dev
	{ echo "# Exact versions of everything that kvplan and its developers install; made by 'make lock', see docs/decisions."; \
	  .lock-venv/bin/python -m pip freeze --exclude-editable; } > constraints.txt
	rm -rf .lock-venv

clean: ## remove the environment and everything that was made
	rm -rf $(VENV) quote build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage
	find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created:
	@test -n "$(PYTHON)" || { echo "kvplan needs Python 3.11 or newer; name it: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.runtime: $(VENV)/.created pyproject.toml constraints.txt
	$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.created pyproject.toml constraints.txt
	$(PIP) install --constraint constraints.txt --editable '.[deploy]' --group dev
	@touch $@ $(VENV)/.runtime
