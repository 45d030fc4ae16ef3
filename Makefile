# Lastmile. `make` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Packages under test, and the number of test programs at a time: each has many tests that wait for the database.
PKG ?= ./...
PROCS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$(( n > 4 ? 4 : n )))

# Pinned tools, run without becoming part of go.mod.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.6.1
SUMTYPE := github.com/alecthomas/go-check-sumtype/cmd/go-check-sumtype@v0.3.1

# Packages whose tests also run under the race detector: engines and everything with goroutines of its own.
CORE := ./internal/... ./eventstore/... ./commands/bus/... ./projections/runner/... ./processmanagers/runner/... \
	./jobs/... ./radius/...

# Packages of pure rules, whose tests must notice nearly every change; MIN is the least share of them, in percent.
RULES := ./aggregates/... ./internal/money ./internal/calendar ./internal/secrets ./gateways/mobilemoney \
	./processmanagers/billing/... ./processmanagers/identity/... ./processmanagers/network/... \
	./processmanagers/payments/... \
	./processmanagers/subscribers/... ./projections/access/entitlement
MIN ?= 90

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: web/dist/index.html ## build bin/lastmile with the web pages in it
	CGO_ENABLED=0 go build -trimpath -o bin/lastmile ./cmd/lastmile

.PHONY: run
run: ## install missing packages, build, start the demo
	@scripts/install-deps node $$([[ -n $${DATABASE_URL:-} ]] || echo postgresql)
	@$(MAKE) --no-print-directory build
	@exec bin/lastmile demo

# Compiled as `make build` does, so that each package is compiled once for both; `make check` vets. Each test program
# starts a database server of its own: what one does to tables makes all connections of a server forget what they know.
.PHONY: test
test: ## install missing packages, run all tests (PKG=./some/... for a part)
	@scripts/install-deps postgresql gcc
	$(if $(filter file,$(origin PKG)),@$(MAKE) --no-print-directory $(NODE_CLIENT))
	CGO_ENABLED=0 timeout --kill-after=20 4200 go test -trimpath -vet=off -p $(PROCS) -parallel 2 -timeout 65m $(PKG) \
		2>&1 | scripts/test-failures
	$(if $(filter file,$(origin PKG)),@$(MAKE) --no-print-directory flows)

# The stock client of the event store for Node.js, with tests against our node that a test of cmd/lastmile runs.
NODE_CLIENT := eventstore/nodeclient/node_modules/.package-lock.json

$(NODE_CLIENT): eventstore/nodeclient/package.json eventstore/nodeclient/package-lock.json
	@scripts/install-deps node
	cd eventstore/nodeclient && npm ci --no-progress
	@touch $@

.PHONY: node-client
node-client: $(NODE_CLIENT) ## the event store node with the stock client for Node.js; part of make test
	@scripts/install-deps postgresql
	CI=true go test -trimpath -vet=off -count=1 -timeout 10m -v -run '^TestEventStore_TheNodeClientIsServed$$' ./cmd/lastmile

# An installation of the CPE server, and where it reaches the devices of the tests.
ACS_NBI_URL ?=
ACS_CWMP_URL ?=
ACS_DEVICE_LISTEN ?=
ACS_IDENTIFY_LISTEN ?=

.PHONY: test-acs
test-acs: ## the gateway's contract at an installation of the CPE server (ACS_NBI_URL=http://… ACS_CWMP_URL=http://…)
	@if [[ -z '$(ACS_NBI_URL)' || -z '$(ACS_CWMP_URL)' ]]; then echo 'test-acs: set ACS_NBI_URL and ACS_CWMP_URL'; exit 2; fi
	ACS_NBI_URL='$(ACS_NBI_URL)' ACS_CWMP_URL='$(ACS_CWMP_URL)' ACS_DEVICE_LISTEN='$(ACS_DEVICE_LISTEN)' \
		ACS_IDENTIFY_LISTEN='$(ACS_IDENTIFY_LISTEN)' go test -count=1 -timeout 15m -v \
		-run '^(TestContract|TestInstallation)_' ./gateways/genieacs

.PHONY: flows
flows: build ## test the web pages' rules, then flows in Chromium through the program with the demo's data
	@scripts/install-deps postgresql headless
	cd web && npm run --silent test && npm run --silent flows

.PHONY: screenshots
screenshots: build ## write docs/screens: a picture of each screen, light and dark
	@scripts/install-deps postgresql headless
	cd web && npm run --silent screenshots

.PHONY: check
check: ## format, vet, lint, complete switches, import rules, race
	@scripts/install-deps postgresql gcc
	@files=$$(git ls-files --cached --others --exclude-standard '*.go' | xargs -r ls 2>/dev/null | xargs -r gofmt -l); if [[ -n $$files ]]; then echo "not formatted (make fmt):"; echo "$$files"; exit 1; fi
	@files=$$(git ls-files --cached --ignored --exclude-standard); if [[ -n $$files ]]; then echo "tracked although ignored (git rm --cached):"; echo "$$files"; exit 1; fi
	go vet ./...
	go run $(STATICCHECK) ./...
	go run $(SUMTYPE) ./...
	@if [[ -d internal/archtest ]]; then go test ./internal/archtest/...; fi
	CGO_ENABLED=1 go test -race -p $(PROCS) -parallel 4 -timeout 20m $$(go list -e $(CORE) 2>/dev/null)

# One file of a package with a database, whose other tests would take hours: FILE, and TESTS as -run of go test has them.
FILE ?=
TESTS ?=

.PHONY: mutate
mutate: bin/withpg ## change the rules in one place at a time; print what no test notices (PKG=./aggregates/billing, MIN=90)
	@scripts/install-deps postgresql
	bin/withpg go run ./scripts/mutate -min $(MIN) -file '$(FILE)' -run '$(TESTS)' $(if $(filter file,$(origin PKG)),$(RULES),$(PKG))

# A soak begins with SEED and ends with the storm, and the round of the store's tests, that run after MINUTES.
SEED ?= $(shell date +%s)
MINUTES ?= 10

# Tests of the event store's node that kill, cut off and relieve it at other moments each time.
STORE_STORMS := ^Test(Kill|Linearizable|Power|Standby|Outage|Fence|Live|Scavenge)_

.PHONY: soak
soak: ## both soaks at once (SEED=1 MINUTES=10)
	@scripts/install-deps postgresql
	@$(MAKE) --no-print-directory -j2 soak-books soak-store

.PHONY: soak-books
soak-books: ## payments, corrections and kills until the time is over, each storm with the next seed (SEED=1 MINUTES=10)
	@scripts/install-deps postgresql
	STORM_SEED=$(SEED) STORM_MINUTES=$(MINUTES) go test -run '^TestStorm_' -v -count 1 \
		-timeout $$(( $(MINUTES) + 10 ))m ./cmd/lastmile

.PHONY: soak-store
soak-store: ## kills, power cuts, outages and take-overs of the event store's node until the time is over (MINUTES=10)
	@scripts/install-deps postgresql
	@end=$$((SECONDS + 60 * $(MINUTES))); for ((n = 1; n == 1 || SECONDS < end; n++)); do \
		echo "event store, round $$n"; go test -count 1 -timeout 10m -run '$(STORE_STORMS)' ./eventstore/embedded; done

.PHONY: bench
bench: bin/withpg web/dist/index.html ## run all benchmarks, each against a limit of the same run; print a table of all ratios
	@scripts/install-deps postgresql chromium
	@if ((EUID == 0)) && command -v apt-get >/dev/null; then scripts/install-deps freeradius || echo "bench: without FreeRADIUS"; fi
	@status=0; timeout --kill-after=20 3600 bin/withpg -durable go test -run '^$$' -bench . -p 1 -timeout 15m $(PKG) | tee bin/bench.txt || status=$$?; \
	echo; scripts/bench-summary bin/bench.txt; exit $$status

.PHONY: verify
verify: ## fail when generated files or module sums differ from what is committed
	go generate ./...
	@changed=$$(git status --porcelain -- '*_gen.go' '*.gen.json' 'docs'); if [[ -n $$changed ]]; then echo "generated files differ:"; echo "$$changed"; exit 1; fi
	go mod verify

.PHONY: fmt
fmt: ## format all Go files
	gofmt -w $$(git ls-files '*.go')

.PHONY: install-deps
install-deps: ## install PostgreSQL and gcc when missing (as root)
	@scripts/install-deps postgresql gcc

.PHONY: clean
clean: ## remove built programs (data stays)
	rm -rf bin

# The web pages. The program needs Node.js to build them and for nothing else: built without them it says so at /app/.
WEB := $(shell find web -path web/node_modules -prune -o -path web/dist -prune -o -path web/flows -prune -o -path web/bench -prune -o -type f ! -name '*.go' ! -name '*.gen.ts' -print)

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	@scripts/install-deps node
	cd web && npm ci --no-progress
	@touch $@

# It is as old as the beginning of its build: a source that changes meanwhile is newer.
web/dist/index.html: web/node_modules/.package-lock.json $(WEB)
	begun=$$(date +@%s.%N); (cd web && npm run --silent build); touch -d "$$begun" $@

# withpg runs many test programs with one throw-away PostgreSQL server, or benchmarks with one that writes to disk.
.PHONY: bin/withpg
bin/withpg: $(wildcard internal/postgres/*.go internal/postgres/pgtest/*.go internal/postgres/pgtest/withpg/*.go)
	@CGO_ENABLED=0 go build -o bin/withpg ./internal/postgres/pgtest/withpg
