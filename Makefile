# Run "make" to see what there is.

GO       ?= go
FUZZTIME ?= 20s
SEED     ?= 1
N        ?= 1000

# Every recipe that is more than a command starts with STRICT; .SHELLFLAGS would be neater, but the make of macOS ignores it.
SHELL  := bash
STRICT := set -euo pipefail;

ROOT := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))

# go.work says which modules there are, and lets people run all of them from here. Within it they would raise each other's
# dependencies: the modules of a release are built and tested within release.work instead, which are the versions that the binary
# is installed with, those of contrib within contrib.work, and each other one as its own go.mod says.
RELEASE    := .tools/release
SIMULATION := lock/locktest/simulation
USED     = $(addprefix $(ROOT)/,$(shell sed -n 's,^	\.\./\.\./,,p' '$(ROOT)/$(RELEASE)/$(1)'))
RELEASED := $(ROOT) $(call USED,release.work)
CONTRIB  := $(call USED,contrib.work)
WORK     := $(if $(filter $(CURDIR),$(RELEASED)),release.work,$(if $(filter $(CURDIR),$(CONTRIB)),contrib.work))
export GOWORK := $(if $(WORK),$(ROOT)/$(RELEASE)/$(WORK),off)
EACH = GOWORK= $(GO) list -m -f '{{.Dir}}' | xargs -P $(1) -I '{}' $(MAKE) -f '$(ROOT)/Makefile' -C '{}'

# Without the race detector: what does one thing after another, or takes minutes to compile with it (the SDK of Grafana, SQLite,
# client-go). And in make test all but the library itself and the exporter, whose code the other modules run: the command, the examples,
# and drivers whose clients would be compiled twice. make proof looks for races in them.
WITHOUT_RACE := .tools/dist dashboards/gen examples/fencing examples/kubernetes lock/contrib/clientgolock \
                lock/contrib/clientgolock/internal/managertest
FEW_NEED      = $(patsubst $(ROOT)/%,%,$(wildcard $(ROOT)/lock/contrib/*))
RACE_AT_NIGHT = dashboards examples exporter/cmd/lockscope exporter/internal/page/browser lock/etcdlock lock/pglock lock/redsynclock \
                $(RELEASE) $(FEW_NEED)
RACE = $(if $(filter $(addprefix $(ROOT)/,$(WITHOUT_RACE) $(if $(NIGHT),,$(RACE_AT_NIGHT))),$(CURDIR)),,-race)

# In make test without what needs ZooKeeper, which needs Java.
SHORT_BY_DAY = exporter/cmd/lockscope $(FEW_NEED)
SHORT = $(if $(NIGHT),,$(if $(filter $(addprefix $(ROOT)/,$(SHORT_BY_DAY)),$(CURDIR)),-short))

# What is compiled without the race detector is compiled as the images have it, and so once.
PLAIN = CGO_ENABLED=0

# Linters are built as .tools/go.mod says, which nobody who requires lockscope has to do with. With -race they need nothing compiled
# that the tests do not need as well.
TOOL = "$$(GOWORK=off $(PLAIN) $(GO) tool -modfile='$(ROOT)/$(1)/go.mod' -n $(2))"
LINT = GOGC=200 GOFLAGS="$$($(GO) env GOFLAGS) $(RACE)" $(call TOOL,.tools,$(1))

# The tests run with the race detector, which needs a C compiler and its headers.
HAVE_REDIS = command -v "$${LOCKSCOPE_REDIS_SERVER:-redis-server}" >/dev/null
HAVE_PROM  = command -v prometheus >/dev/null && command -v promtool >/dev/null
HAVE_AM    = { command -v prometheus-alertmanager || command -v alertmanager; } >/dev/null
HAVE_WEB   = { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null
HAVE_PG    = { [ -n "$${LOCKSCOPE_POSTGRES_BIN:-}" ] || ls /usr/lib/postgresql/*/bin/initdb || command -v initdb; } >/dev/null 2>&1
HAVE_PGB   = { command -v pgbouncer || ls /usr/sbin/pgbouncer; } >/dev/null 2>&1
HAVE_MARIA = { command -v mariadbd || [ -x /usr/sbin/mariadbd ]; } >/dev/null 2>&1 && command -v mariadb-install-db >/dev/null
HAVE_TMUX  = command -v tmux >/dev/null
HAVE_CURL  = command -v curl >/dev/null
HAVE_ETCD  = command -v "$${LOCKSCOPE_ETCD:-etcd}" >/dev/null
HAVE_JAVA  = command -v java >/dev/null
HAVE_ZK    = { [ -n "$${LOCKSCOPE_ZOOKEEPER_JARS:-}" ] || [ -e /usr/share/java/zookeeper.jar ]; }
HAVE_OCI   = command -v buildah >/dev/null
HAVE_DPKG  = command -v dpkg-deb >/dev/null
HAVE_RPM   = command -v rpm >/dev/null && command -v cpio >/dev/null
HAVE_UNITS = command -v systemd-analyze >/dev/null
HAVE_MAN   = command -v man >/dev/null
HAVE_SSH   = command -v ssh-keygen >/dev/null
HAVE_CC    = echo '\#include <stdlib.h>' | $$($(GO) env CC) -E -x c - >/dev/null 2>&1

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list.
	@grep -E '^[a-z-]+:.*## ' Makefile | awk -F ':.*## ' '{ printf "make %-16s %s\n", $$1, $$2 }'

# What takes long to compile or to run, and seldom finds what the rest does not: make proof runs it, every night and before a release.
# It runs those of RACE_AT_NIGHT and SHORT_BY_DAY whole, and of PROVED_PARTLY what make test leaves out.
PROVED          := dashboards/gen dashboards/proof examples/fencing examples/kubernetes lock/contrib/clientgolock \
                   lock/contrib/clientgolock/internal/managertest lock/proof .tools/dist
PROVED_PACKAGES := examples/compose
PROVED_TESTS    := TestDemoEmbedded TestDemoInterrupted TestDemoOnYourServersLeavesOnlyFenceCounters \
                   TestDemoOnOtherSystems TestDemoInterruptedOnOtherSystems TestPrintedCommandsWork TestUser \
                   TestCheckCompatible TestCheckIncompatible TestCheckRemoved \
                   TestMoreInBrowser TestHistoryInBrowser TestPolicyInBrowser \
                   TestRealLeastPrivilegeIsLeast TestRealReconfigureUnderLoad TestRealStarvedProcess \
                   TestConformanceWithoutWakeUps TestFaultsLetNoTwoHold TestUsersNeedAllTheyHave TestMemoryStopsGrowing
PROVED_PARTLY   := ./lock/redlock ./lock/pglock ./exporter/observe
MODULES          = GOWORK= $(GO) list -m -f '{{.Dir}}' | sed 's,^$(ROOT)/,,; s,^$(ROOT)$$,.,'

empty :=
space := $(empty) $(empty)
either = $(subst $(space),|,$(strip $(1)))

.PHONY: test
test: deps format ## Install what is missing if possible, and run the tests that a change is judged by, with the race detector.
	$(GO) build -race ./... ./exporter/...
	@# Most tests wait for servers: while those of the library and the exporter do, what the others share is compiled, once.
	+@printf '%s\n' test-raced test-others | xargs -P 2 -I '{}' $(MAKE) -f '$(ROOT)/Makefile' '{}'
	@# What is measured, alone: the race detector hides what is allocated.
	$(PLAIN) $(GO) test -count=1 -run 'Costs?$$' ./instrument ./exporter ./exporter/live

RACED   := . exporter $(SIMULATION)
LONGEST := exporter/cmd/lockscope lock/pglock
.PHONY: test-raced test-others
test-raced:
	+@printf -- '-C "$(ROOT)/%s" test-module\n' $(RACED) | xargs -P 2 -L 1 $(MAKE) -f '$(ROOT)/Makefile'
test-others:
	$(PLAIN) nice $(GO) build $(addsuffix /...,$(filter-out $(ROOT) $(ROOT)/exporter,$(RELEASED)))
	+@{ { printf '%s\n' $(LONGEST); $(MODULES) | grep -vxE '$(call either,$(PROVED) $(RACED) $(LONGEST))'; } | \
		sed 's,.*,-C "$(ROOT)/&" test-module,'; echo '-C "$(ROOT)" test-plain'; } | xargs -P 2 -L 1 $(MAKE) -f '$(ROOT)/Makefile'

.PHONY: test-module
test-module: # Two packages at a time, so that one works, or is compiled, while another waits: the tests stand a machine that is busy.
	@$(STRICT) packages=$$($(GO) list ./... | grep -vE '/($(call either,$(PROVED_PACKAGES)))(/|$$)'); \
	set -x; $(TESTS) -skip '^($(call either,$(PROVED_TESTS) $(PLAIN_TESTS)))$$' $$packages

TESTS = $(if $(RACE),,$(PLAIN)) $(GO) test $(RACE) $(SHORT) -vet=off -p 2 -parallel 8 -timeout $(LIMIT)
LIMIT = 15m

# Without the race detector and with what is cached: most changes are answered within two minutes. A change of a package is a change for
# those that import it, and a change of an internal one also for those that import it through internal packages: all importers of
# importers would be 179 of 261 packages for lock, and 54 instead of 5 for lock/fencing. A change of the boards' generator is one of
# what it writes, and one of a metric is one for exporter/otlp, which names all.
BASE ?= HEAD
.PHONY: quick
quick: ## Vet and test the packages that differ from BASE (HEAD) and those that import them, or those in PKG, without the race detector.
	@$(STRICT) packages="$(PKG)"; \
	[ -n "$$packages" ] || packages=$$($(MAKE) --no-print-directory quick-packages); \
	failed=; for package in $$packages; do \
		[ -d "$$package" ] || continue; \
		GOWORK= $(MAKE) --no-print-directory -f '$(ROOT)/Makefile' -C "$$(cd "$$package" && dirname "$$(GOWORK=off $(GO) env GOMOD)")" quick-package FOLDER="$$(cd "$$package" && pwd)" || failed=1; \
	done; [ -z "$$failed" ]

# FILES are those that differ. A file below an internal package, such as an embedded one, is that package's.
FILES = $(shell { git diff --name-only '$(BASE)'; git ls-files --others --exclude-standard; } | tr '\n' ' ')
.PHONY: quick-packages
quick-packages:
	@$(STRICT) GOWORK= $(GO) list -m -f '{{.Dir}}/...' | GOWORK= xargs $(GO) list -e \
		-f '{{.Dir}} {{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}' | \
		awk -v root='$(ROOT)/' -v files='$(FILES)' ' \
			{ sub(root, "", $$1); row[NR] = $$0; path[$$1] = $$2 } \
			END { n = split(files, file, " "); \
				for (i = 1; i <= n; i++) { \
					dir = file[i]; sub("/testdata/.*", "/x", dir); sub("/[^/]*$$", "", dir); \
					while (!(dir in path) && dir ~ "/internal/") sub("/[^/]*$$", "", dir); \
					if (dir in path) of[path[dir]] = 1; \
					if (dir ~ "^instrument/") of[path["instrument"]] = 1; \
					if (dir ~ "^dashboards") of[path["dashboards"]] = of[path["dashboards/gen"]] = 1 } \
				do { more = 0; for (n = 1; n <= NR; n++) { k = split(row[n], f); for (i = 2; i <= k; i++) if (of[f[i]]) { \
					hit[n] = 1; if (!of[f[2]] && f[2] ~ "/internal/" && f[i] ~ "/internal/") of[f[2]] = more = 1 } } } while (more); \
				for (n = 1; n <= NR; n++) if (hit[n]) { split(row[n], f); print f[1] } }'

.PHONY: quick-package
quick-package:
	$(PLAIN) $(GO) vet '$(FOLDER)'
	$(PLAIN) $(GO) test -vet=off -short -timeout 5m '$(FOLDER)'

# Which products were tested this way is in lock/redlock/README.md.
.PHONY: test-server
test-server: ## Test what talks to Redis on another server: SERVER=/path/to/valkey-server; ten minutes. Those of TLS need it built in.
	LOCKSCOPE_REDIS_SERVER='$(SERVER)' GOWORK='$(ROOT)/$(RELEASE)/release.work' $(PLAIN) $(GO) test -vet=off -count=1 -timeout 30m \
		./lock/redlock/... ./lock/semaphore ./lock/rwlock ./lock/election ./lock/contrib/migration ./scanner/... \
		./exporter/cmd/lockscope ./exporter/cmd/lockscope/internal/{diagnosis,top}/...

# One after another, for each of them takes all cores. A failure does not end the others: they are for the night.
.PHONY: proof
proof: deps-proof format ## What make test leaves to the night: linters, all simulations, models, planted bugs, boards, alerts, images, a campaign; hours.
	+@failed=; for part in lint test-licences test-simulation test-proved test-alerts spec mutate mutate-rules prove; do \
		echo "== $$part"; began=$$SECONDS; \
		$(MAKE) --no-print-directory -f '$(ROOT)/Makefile' $$part || failed="$$failed $$part"; \
		echo "== $$part took $$((SECONDS - began)) s"; \
	done; \
	if [ -n "$$failed" ]; then echo "failed:$$failed"; exit 1; fi

.PHONY: test-proved
test-proved: export NIGHT := 1
test-proved:
	+@printf -- '-C "$(ROOT)/%s" test-proved-module\n' $(sort $(RACE_AT_NIGHT) $(SHORT_BY_DAY) $(PROVED)) | \
		xargs -P 2 -L 1 $(MAKE) -f '$(ROOT)/Makefile'
	$(TESTS) -run '^($(call either,$(PROVED_TESTS)))$$' $(PROVED_PARTLY)
	@# A race of go-zookeeper's own, when it reconnects, would end them with the race detector.
	$(PLAIN) $(GO) test -count=1 -run 'TestASessionExpires|TestAHungServer|TestServersOfAnEnsembleDie|TestTheAnswerToACreateIsLost|TestTheAnswersToARenewalAndAReleaseAreLost' ./lock/contrib/zklock

# Two builds of all platforms take 15 minutes, alone.
.PHONY: test-proved-module
test-proved-module: LIMIT = 1h
test-proved-module:
	$(TESTS) $(if $(filter %/dashboards/proof,$(CURDIR)),-skip '^TestAlerts$$') ./...

# Its minutes last two seconds: it runs alone.
.PHONY: test-alerts
test-alerts:
	cd dashboards/proof && GOWORK=off $(GO) test -race -vet=off -timeout 15m -run '^TestAlerts$$' .

# The race detector makes the simulation seven times slower: it runs few histories in test-module, more of plain locks in test-plain,
# and all of them here; those with a planted defect only here.
.PHONY: test-simulation
test-simulation:
	@$(STRICT) cd $(SIMULATION); GOGC=400 GOWORK=off $(PLAIN) $(GO) test -count=1 -timeout 60m -v . | grep -E ' histories |^(---|ok|FAIL|PASS|panic|fatal|signal)|seed [0-9]+:|^ +(at [0-9]|replay)'

# The race detector hides what is allocated, and would take most of the time of the others.
PLAIN_TESTS := TestRealNothingLeftAfterManyPairs TestLogOfAnOutage
.PHONY: test-plain
test-plain:
	$(PLAIN) $(GO) test -count=1 -run '^($(call either,$(PLAIN_TESTS)))$$' ./lock/redlock ./instrument
	$(PLAIN) $(GO) test -count=1 -run '^TestMemory$$' ./exporter/live/internal/sessions
	cd $(SIMULATION) && GOWORK=off $(PLAIN) $(GO) test -count=1 -run '^TestSimulation$$' . -args -histories=1000

.PHONY: vet
vet: deps format lint ## Check formatting, run go vet and linters.

.PHONY: format
format:
	@$(STRICT) unformatted=$$("$$($(GO) env GOROOT)/bin/gofmt" -l .); \
	if [ -n "$$unformatted" ]; then echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; fi

.PHONY: lint
lint:
	+@$(STRICT) $(call EACH,2) lint-module; $(MAKE) -f '$(ROOT)/Makefile' -C .tools/dist lint-module
	@# The simulations that are not built with the race detector are in one package.
	cd $(SIMULATION) && GOWORK=off $(PLAIN) $(GO) vet .

# With -race, go vet compiles what the tests need anyway. What is deprecated in a dependency (SA1019) is for whoever raises it. The
# harness of the tests in locktest may leave errors of its clean-up alone, as tests may.
.PHONY: lint-module
lint-module: export CGO_ENABLED := $(if $(RACE),1,0)
lint-module:
	$(GO) vet $(RACE) ./...
	$(call LINT,staticcheck) -checks inherit,-SA1019 ./...
	$(call LINT,ineffassign) ./...
	$(call LINT,errcheck) -ignoretests -exclude '$(ROOT)/.tools/errcheck.txt' $$($(GO) list ./... | grep -v /lock/locktest)

.PHONY: tidy
tidy: ## Make go.mod and go.sum of each module say what it needs.
	bash $(RELEASE)/release.sh tidy
	+@$(STRICT) $(call EACH,1) tidy-module
	@$(STRICT) for folder in .tools .tools/audit .tools/dist; do (cd $$folder; GOWORK=off $(GO) mod tidy); done
	GOWORK= $(GO) mod download # completes go.work.sum: who downloads finds the tree clean

.PHONY: tidy-module
tidy-module: # The modules of a release require versions of each other that are not tagged yet.
	$(if $(filter off,$(GOWORK)),$(GO) mod tidy)

.PHONY: release-check
release-check: ## Compare the exported API of every module with its last tag: a break needs a version and a changelog entry that allow it.
	@bash $(RELEASE)/release.sh check

VERSION ?= v0.0.0-$(shell git log -1 --format=%cd-%h --date=format:%Y%m%d%H%M%S --abbrev=12)
.PHONY: dist
dist: ## Build archives, packages and an image of VERSION into dist/, with SBOMs, SHA256SUMS and a signature; minutes.
	@bash .tools/dist/dist.sh '$(VERSION)'

# Where https://vuln.go.dev cannot be reached, the Go module proxy has a database of a date that is printed.
VULNDB := golang.org/x/vulndb
VULNDB_VERSION := v0.0.0-20261105234957-e22db6528018
.PHONY: vuln
vuln: ## Look for known vulnerabilities in what each released module requires (govulncheck); DB=stored without the live database.
	@$(STRICT) folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; export GOWORK=off CGO_ENABLED=0; \
	if [ '$(DB)' = stored ]; then \
		stored=$$($(GO) mod download -json $(VULNDB)@$(VULNDB_VERSION) | sed -n 's/.*"Dir": "\(.*\)",/\1/p'); \
		$(GO) run $(VULNDB)/cmd/indexdb@$(VULNDB_VERSION) -vulns "$$stored/data/osv" -out "$$folder"; \
		echo "database: $(VULNDB) $(VULNDB_VERSION)"; \
	fi; \
	bash $(RELEASE)/release.sh each $(call TOOL,.tools,govulncheck) $(if $(filter stored,$(DB)),-db "file://$$folder") ./...

LICENCES := .github/LICENCES.md
.PHONY: licences test-licences
licences: ## Write .github/LICENCES.md anew (go-licenses); make proof compares it.
	@bash .tools/audit/licences.sh table >'$(LICENCES)'

test-licences:
	@$(STRICT) diff '$(LICENCES)' <(bash .tools/audit/licences.sh table)

.PHONY: bench
bench: deps ## Run all benchmarks; lock/redlock/BENCHMARKS.md says how its table was made.
	$(GO) test -run '^$$' -bench . -benchmem -timeout 90m ./lock/redlock ./instrument ./exporter/... ./scanner

.PHONY: bench-peers
bench-peers: deps ## Measure redsync, redislock and others beside lockscope; seven minutes.
	cd lock/proof && GOWORK=off $(GO) run ./peers

.PHONY: scale
scale: deps ## How cost grows with leases, waiting processes, keys and instances: lock/SCALE.md; half an hour.
	$(GO) test -run '^$$' -bench 'Leases|ManyReaders' -benchtime 1x -timeout 30m ./lock/redlock
	$(PLAIN) $(GO) test -count=1 -run '^TestCrowd$$' -timeout 30m -v ./lock/memlock -args -waiters=10000
	$(GO) test -run '^$$' -bench 'Merge|Read' -benchtime 20x ./exporter/cmd/lockscope/internal/fleet
	$(GO) test -run '^$$' -bench 'Sweep/(bare|script)$$|Sweep/memory' -benchtime 1x -timeout 30m ./scanner

.PHONY: prove
prove: deps ## Everything at once on real servers, for FOR (1m) from SEED (1), judged: lock/proof/campaign. RECORD=1 records the code it held for.
	cd lock/proof && GOWORK=off $(GO) run ./campaign -for $(or $(FOR),1m) -seed $(SEED) $(if $(RECORD),-record $(CURDIR)/lock/proof/campaign.lines)

.PHONY: soak
soak: deps ## All constructs and all views, with a fault every 30 s, for FOR (1h) from SEED (1) in CLIENTS (5) processes, a call each PACE (3s): does anything grow?
	@$(STRICT) folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	$(PLAIN) $(GO) build -o "$$folder/lockscope" ./exporter/cmd/lockscope; \
	cd lock/proof; GOWORK=off $(PLAIN) $(GO) build -o "$$folder/campaign" ./campaign; \
	"$$folder/campaign" -soak "$$folder/lockscope" -for $(or $(FOR),1h) -seed $(SEED) -clients $(or $(CLIENTS),5) -callers 4 -builders 8 -pace $(or $(PACE),3s)

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (20s).
	+@$(STRICT) $(call EACH,1) fuzz-module

.PHONY: fuzz-module
fuzz-module:
	@$(STRICT) for pkg in $$($(GO) list ./...); do \
		listed=$$($(GO) test -list '^Fuzz' "$$pkg") || { echo "$$listed"; exit 1; }; \
		for target in $$(grep '^Fuzz' <<<"$$listed" || true); do \
			echo "$$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$pkg"; \
		done; \
	done

.PHONY: sim
sim: ## Simulate N (1000) random histories of the lock, and of each construct, from SEED (1).
	cd $(SIMULATION) && GOWORK=off $(GO) test -run '^TestSimulation(Elections|Sets|Semaphores)?$$' . -timeout 0 -v -args -seed=$(SEED) -histories=$(N)

.PHONY: spec
spec: ## Explore the models of the algorithm at larger bounds than the tests do, and print what was seen; minutes.
	cd lock/proof && GOWORK=off $(GO) run ./spec

.PHONY: mutate
mutate: deps ## Plant bugs one at a time, and see that the test named for each fails; ONLY=regexp chooses some.
	cd lock/proof && GOWORK=off $(GO) run ./mutate -only '$(ONLY)'

.PHONY: mutate-rules
mutate-rules: deps ## Change one thing in one rule at a time, and see that promtool notices; ONLY=regexp chooses some.
	cd dashboards/gen && GOWORK=off $(GO) run ./mutate -only '$(ONLY)'

.PHONY: dashboards
dashboards: ## Write dashboards and rules anew from dashboards/gen.
	cd dashboards/gen && GOWORK=off $(GO) run . -out ..

.PHONY: dashboards-proof
dashboards-proof: deps ## Run every dashboard query and rule against a live Prometheus over the demo.
	cd dashboards/proof && GOWORK=off $(GO) run .

.PHONY: demo
demo: ## See it work: five nodes, contention, faults, leaks, a live page.
	$(GO) run ./examples/demo

# policy-rc.d, where there is none yet, keeps the packages from starting servers of their own on their well-known ports.
.PHONY: deps deps-proof
deps: ## Install what the tests run (redis-server, prometheus, alertmanager, chromium, postgresql, pgbouncer, mariadb, tmux, curl, etcd, rpm, man, a C compiler), as root with apt; else say what to install.
deps-proof: ## The same, with ZooKeeper, Java and buildah for make proof.
deps-proof: ZOOKEEPER = 1
deps deps-proof:
	@$(STRICT) want=(); \
	$(HAVE_REDIS) || want+=(redis-server); \
	$(HAVE_PROM) || want+=(prometheus); \
	$(HAVE_AM) || want+=(prometheus-alertmanager); \
	$(HAVE_WEB) || want+=(chromium); \
	$(HAVE_PG) || want+=(postgresql); \
	$(HAVE_PGB) || want+=(pgbouncer); \
	$(HAVE_MARIA) || want+=(mariadb-server-core mariadb-client-core); \
	$(HAVE_TMUX) || want+=(tmux); \
	$(HAVE_CURL) || want+=(curl); \
	$(HAVE_ETCD) || want+=(etcd-server); \
	$(if $(ZOOKEEPER),$(HAVE_JAVA) || want+=(default-jre-headless); $(HAVE_ZK) || want+=(zookeeper); $(HAVE_OCI) || want+=(buildah);) \
	$(HAVE_DPKG) || want+=(dpkg); \
	$(HAVE_RPM) || want+=(rpm cpio); \
	$(HAVE_UNITS) || want+=(systemd); \
	$(HAVE_MAN) || want+=(man-db); \
	$(HAVE_SSH) || want+=(openssh-client); \
	$(HAVE_CC) || want+=(gcc libc6-dev); \
	if [ $${#want[@]} -eq 0 ]; then exit 0; fi; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
		echo "missing: $${want[*]}"; \
		echo "  Debian/Ubuntu: sudo apt-get install $${want[*]}"; \
		echo "  macOS:         brew install redis prometheus alertmanager postgresql pgbouncer mariadb tmux etcd zookeeper openjdk; brew install --cask chromium; xcode-select --install"; \
		echo "  redis-server elsewhere: set LOCKSCOPE_REDIS_SERVER=/path/to/redis-server; LOCKSCOPE_ETCD, LOCKSCOPE_POSTGRES_BIN likewise;"; \
		echo "  LOCKSCOPE_ZOOKEEPER_JARS is the folder with ZooKeeper's archives"; \
		exit 1; \
	fi; \
	echo "installing: $${want[*]}"; \
	if [ ! -e /usr/sbin/policy-rc.d ]; then \
		trap 'rm -f /usr/sbin/policy-rc.d' EXIT; \
		printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d; \
		chmod +x /usr/sbin/policy-rc.d; \
	fi; \
	export DEBIAN_FRONTEND=noninteractive; \
	mkdir -p /usr/share/man/man1 `# a minimal image lacks it, and Java links its pages there`; \
	apt-get update; \
	apt-get install -y --no-install-recommends "$${want[@]}"; \
	for package in "$${want[@]}"; do dpkg -s "$$package" >/dev/null || { echo "$$package is still missing"; exit 1; }; done
