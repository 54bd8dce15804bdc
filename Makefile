# `make` prints what there is. Everything runs from .venv, which `setup` makes from the hashed locks.
.DEFAULT_GOAL := help
.PHONY: help setup packages lock lint types docs test test-airflow test-code test-unit test-long test-secured test-secured-runs test-secured-logins test-secured-core test-copier test-copier-faults test-copier-rest test-chaos test-kill test-kill-pretended test-brokers soak mutate mutate-digests fuzz-plan topologies settings new-release spark-matrix lag-scenarios build facts copier demo demo-down bench bench-bump bench-lag bench-compare bench-outputs bench-forecast bench-copier bench-fleet bench-plan bench-agent bench-links bench-wait bench-triggers bench-flush compose-env compose-up compose-down test-compose

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.made-from-the-locks
LAB := PYTHONPATH=tests $(BIN)/python -m
# Needs no environment: the machine may have nothing but Docker, make and Python.
COMPOSE := PYTHONPATH=tests:plugins $(PYTHON) -m lab.compose

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | while IFS="$$(printf '\t')" read -r name what; do \
		printf '  make %-14s %s\n' "$$name" "$$what"; done

setup: $(STAMP) ## Make .venv from the locks; nothing happens while it is up to date

$(STAMP): requirements.lock requirements-uv.lock tests/lab/link_project.py
	@command -v $(PYTHON) >/dev/null || { echo "Python: no $(PYTHON) at PATH; install Python 3.11 or later, or set PYTHON=…" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || { \
		echo "Python: $(PYTHON) is $$($(PYTHON) -V 2>&1) (needed: 3.11, 3.12 or 3.13); set PYTHON=… to one" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
		echo "Python: $(PYTHON) has no ensurepip; install its venv package (Debian: python3-venv)" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.lock
	@echo "making $(VENV) from the locks" >&2
	@$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock requirements-uv.lock
	@$(BIN)/python tests/lab/link_project.py
	@touch $@

lock: setup ## Resolve pyproject.toml again and write the hashed locks
	$(BIN)/uv pip compile pyproject.toml --group dev --extra postgresql --extra celery --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url -o requirements.lock
	echo uv | $(BIN)/uv pip compile - --generate-hashes --no-emit-index-url -o requirements-uv.lock

lint: setup ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup ## mypy, strict
	$(BIN)/mypy

docs: setup ## Print docs/version_paths.md, docs/defects.md, docs/change_rules.md and docs/rights.md from the rules, docs/forms.md from the forms
	$(BIN)/kstreams-runbooks version-paths > docs/version_paths.md
	$(BIN)/kstreams-runbooks defects --page > docs/defects.md
	$(BIN)/kstreams-runbooks change-rules > docs/change_rules.md
	$(BIN)/kstreams-runbooks rights > docs/rights.md
	@$(LAB) world.imports docs/architecture.md
	@$(LAB) world.cases
	@$(LAB) world.forms

packages: ## Install the distribution's packages that only the tests need, or name them
	@tests/lab/packages

test: setup packages build ## Against real brokers, the real application and a real Airflow; three parts at a time, 28 minutes
	@echo "three parts at a time; each prints its results when it has ended (make test-airflow, make test-code show progress)"
	@TEST_BUILT=1 $(MAKE) --no-print-directory --output-sync=target -j3 test-airflow test-code test-unit

test-airflow: setup packages ## The part of `make test` with runs in Airflow
	$(BIN)/python -m pytest tests/airflow tests/ui tests/facts

test-code: setup packages ## The part with a broker and an application of its own, and with Spark
	TEST_PORT_BASE=$$(($${TEST_PORT_BASE:-27000} + 1000)) $(BIN)/python -m pytest tests/integration tests/copier tests/dags tests/hostile tests/spark

test-unit: setup ## The tests that need nothing but Python; next to the other parts, in the time that they leave
	nice $(BIN)/python -m pytest tests/unit

test-long: setup packages ## Undo after every step, the other runbooks and deployers, more of the same; about an hour
	@tests/lab/packages long
	$(BIN)/python -m pytest -m long tests/long tests/facts tests/integration tests/airflow tests/hostile tests/spark $(COPIER_APART)

# Logins, rights and secrets on brokers that deny by default; most of the second list is in `make test` too.
SECURED := $(addprefix tests/hostile/test_,hidden_topics.py no_secret_shown.py refused_logins.py rights.py secured_broker.py tokens.py write_rights.py)

test-secured: setup packages build ## Runbooks with exactly their rights and without each of them, logins and secrets, on brokers that deny by default; 12 minutes
	@TEST_BUILT=1 $(MAKE) --no-print-directory --output-sync=target -j2 test-secured-runs test-secured-logins

test-secured-runs: setup ## The half of `make test-secured` with whole runs in Airflow, and with Spark
	$(BIN)/python -m pytest -m "long or not long" tests/secured/test_whole_runs.py tests/secured/test_spark_login.py

test-secured-logins: setup ## The other half: every runbook without each of its rights in turn, logins, secrets, hidden topics
	TEST_PORT_BASE=$$(($${TEST_PORT_BASE:-27000} + 1000)) $(BIN)/python -m pytest -m "long or not long" tests/secured/test_each_right.py $(SECURED)

test-secured-core: setup ## Of these: every runbook without each of its rights in turn; 5 minutes
	$(BIN)/python -m pytest tests/secured/test_each_right.py

test-copier: setup build ## The shipped copier: kills, refusals, every kind of record; source and target record by record; 12 minutes
	@TEST_BUILT=1 $(MAKE) --no-print-directory --output-sync=target -j2 test-copier-faults test-copier-rest

COPIER_APART := $(addprefix tests/copier/,test_by_time.py test_copied_before.py)
COPIER_FAULTS := $(addprefix tests/copier/,test_faults.py test_until.py)
test-copier-faults: setup ## The half of `make test-copier` with kills, topics that change, and `until`
	$(BIN)/python -m pytest -m "long or not long" --durations=10 $(COPIER_FAULTS)

test-copier-rest: setup ## The other half: records, keys, refusals, rights, offsets that expire, a broker that dies, metrics
	TEST_PORT_BASE=$$(($${TEST_PORT_BASE:-27000} + 1000)) $(BIN)/python -m pytest -m "long or not long" --durations=10 \
		tests/copier $(addprefix --ignore ,$(COPIER_FAULTS) $(COPIER_APART))

test-chaos: setup ## Kill an instance, kill the scheduler, in the middle of a bounce; about 10 minutes
	$(BIN)/python -m pytest tests/chaos

test-kill: setup ## RUNBOOK=x: kill every task in its middle, show that the run ends well; TASKS=a,b, COUNT, SEED, OUT, FORMAT=json
	@$(LAB) kill

test-kill-pretended: setup ## The same for a run about two applications, topics and offsets, and for its undo; writes both pages; half an hour
	@RUNBOOK=pretended OUT=docs/kill_pretended.md $(LAB) kill
	@RUNBOOK=pretended_undo OUT=docs/kill_pretended_undo.md $(LAB) kill

test-brokers: setup ## Kill one of three brokers in the middle of tasks, show that each run ends well; RUNBOOK, COUNT, SEED, OUT, FORMAT=json; 12 minutes
	@$(LAB) kill.brokers

soak: setup ## Drain the running application 200 times at random moments; COUNT, SEED, OUT; about 20 minutes; OF=cutover: 20 cutovers there and back, an hour
	@$(LAB) soak

mutate: setup ## Drop and negate every change rule in turn: each has to fail a test; about 10 seconds
	@$(LAB) mutate

mutate-digests: setup facts ## Take each rule of the digests of code away in turn: each has to fail a test; ONLY=words, FIND=1; 3 minutes
	@$(LAB) mutate.digests

fuzz-plan: setup ## Random changes with known consequences: no plan may ask for too little; SEED, COUNT, ONLY, OUT, FORMAT=json
	@$(LAB) fuzz

topologies: ## Describe the topologies of tests/apps/topologies with the real library again, and compare
	tests/apps/topologies/regenerate --check 3.4.1 4.3.1 4.4.0

settings: setup ## Print rules/settings.yaml from every release's own StreamsConfig and client settings; CHECK="A B" compares two
	@$(LAB) lab.release_settings $(if $(CHECK),--check $(CHECK))

new-release: setup facts ## RELEASE=x: what its jars have otherwise than AFTER (the release before), as a draft of rows; 2 minutes
	@$(LAB) lab.new_release $(RELEASE) $(AFTER)

spark-matrix: setup ## The Spark jobs on local[2], local[*], Spark Connect and a standalone cluster of their own; 5 minutes
	$(BIN)/python -m pytest tests/spark -o python_files='test_*.py matrix_*.py'

lag-scenarios: setup ## Measure docs/lag_scenarios.md again: lag by Kafka's tool and by this project, and the true count
	WRITE_PAGE=1 $(BIN)/python -m pytest tests/spark/test_lag_scenarios.py

build: setup facts copier ## The orders application in every release, the broker's jars, and those with which Spark reads Kafka
	mvn -q -B -f tests/apps/pom.xml package -DskipTests
	mvn -q -B -f spark_jobs/pom.xml package

facts: ## topology_facts/target/topology-facts.jar, which an application prints its topology's facts with
	mvn -q -B -f topology_facts/pom.xml package

copier: ## topic_copier/target/topic-copier.jar, which copies topics into control topics (docs/topic_copier.md)
	mvn -q -B -f topic_copier/pom.xml package

demo: setup ## A real run under traffic, with its proof; RUNBOOK=library_bump, control_topic_flush (SWITCH=swap or copier), adopt_control_topic, blue_green_cutover or reset_and_cleanup, PORT_BASE, RUN_DIR, APPROVE=me, FORMAT=json
	@$(LAB) lab.demo up

demo-down: ## Stop what the demo started, and nothing else
	@if test -x $(BIN)/python; then $(LAB) lab.demo down; fi

compose-env: ## Draw the passwords of docker-compose.yaml into .env; BASE, AIRFLOW_PORT, COMPOSE_PROJECT_NAME
	@$(COMPOSE) env

compose-up: ## Everything in containers, from images that are built here: docs/compose.md; ten minutes the first time
	@$(COMPOSE) up

compose-down: ## Remove its containers, networks and volumes; IMAGES=1 removes the images too
	@$(COMPOSE) down

test-compose: setup ## The library bump across containers of their own, a worker killed in its middle; 7 minutes, 5 more to build
	@$(COMPOSE) check
	$(BIN)/python -m pytest -s tests/compose

bench: bench-bump bench-flush bench-lag bench-compare bench-outputs bench-forecast bench-fleet bench-plan bench-agent bench-links bench-wait bench-triggers ## Everything that is measured beside a floor or a peer; about 45 minutes

bench-bump: setup ## Gap per bounced instance next to a manual bounce and to all at once, overhead per task; FORMAT=json
	@$(LAB) benchmarks.bump

bench-flush: setup ## Hold and gap of a control-topic flush next to the same by hand, and Airflow's own part; 10 minutes
	@$(LAB) benchmarks.flush

bench-lag: setup ## Lag of 500 groups next to kafka-consumer-groups, the same by TLS and SASL, the Spark lag check next to a plain count; 9 minutes
	@$(LAB) benchmarks.lag_snapshot
	@$(LAB) benchmarks.lag_secured
	@$(LAB) benchmarks.lag_spark

bench-compare: setup ## Two equal topics of 5 million records compared in each mode, next to a plain count of both; RECORDS, HEADERS=1, ROUNDS, ONLY=record; 10 minutes
	@$(LAB) benchmarks.compare_topics

bench-outputs: setup ## Two sides of an output of 5 million records compared, next to a plain count of both; RECORDS, ROUNDS; 10 minutes
	@$(LAB) benchmarks.compare_outputs

bench-forecast: setup ## Which keys of 5 million records move with more partitions, next to a plain count; RECORDS, KEYS, ROUNDS; 5 minutes
	@$(LAB) benchmarks.forecast_partitions

bench-copier: setup copier ## The shipped copier next to a bare Java loop and one in Python, its latency, its memory; RECORDS, WIDE, ROUNDS, LATENCY_S, SOAK_MIN; an hour and a half, alone
	@$(LAB) benchmarks.copier

bench-fleet: setup ## One scheduled check of 50 applications and of 500; 2 minutes
	@$(LAB) benchmarks.fleet_check

bench-agent: setup ## Ten starts of the orders application with the agent of topology facts and without it; STARTS; 4 minutes
	@$(LAB) benchmarks.facts_agent

bench-wait: setup ## What a gate that waits for eight hours leaves in the ledger, and what reading it costs; a minute
	@$(LAB) benchmarks.long_wait

bench-triggers: setup ## Readings of 12 waits in a real triggerer, alone and next to 4 whose broker or agent hangs; 5 minutes
	@$(LAB) benchmarks.triggers

bench-links: setup facts ## The link scan of 200 jars next to reading each of their entries once; REPEATS; a minute
	@$(LAB) benchmarks.links

bench-plan: setup ## Processor seconds of `plan` for programs of 3,000 operators, by shape; REPEATS, FORMAT=json; 3 minutes
	@$(LAB) benchmarks.plan
