# What a person types. `make` builds, `make test` proves, `make bench` measures.
GO ?= go
export CGO_ENABLED ?= 0
BUILD = $(GO) build -trimpath -ldflags "-s -w"
# The store is left out: SQLite's translated C takes minutes under the race detector.
RACE = ./internal/spool ./internal/capture ./internal/ingest ./internal/guard

.PHONY: build install test unit race cross lint golden e2e bench bench-hook fuzz programs hooks release release-dry-run pack verify-release crash bench-policy bench-recall bench-told

build:
	$(BUILD) -o bin/ ./cmd/copilot-mem ./cmd/copilot-mem-hook

# The main job on a fresh machine: build, install for this user, show it working on a recorded event.
install: build
	./bin/copilot-mem init --scope user --yes
	./bin/copilot-mem capture userPromptSubmitted < docs/first-prompt.json
	./bin/copilot-mem search --all "hello copilot-mem"
	./bin/copilot-mem doctor

test: lint unit crash race cross e2e

unit:
	$(GO) vet ./...
	$(GO) test ./...

# 200 processes are killed at random in ingest, forget, backup and migration; `make unit` kills 24. An import's memory is
# measured with three times as much.
crash:
	COPILOT_MEM_BENCH_SESSIONS=100 $(GO) test -count=1 -run MemoryIsFlat ./internal/history
	COPILOT_MEM_CRASHES=200 $(GO) test -count=1 -run KilledAtRandom ./cmd/copilot-mem

race:
	CGO_ENABLED=1 $(GO) test -race $(RACE)

cross:
	GOOS=windows GOARCH=amd64 $(GO) build -o /dev/null ./cmd/copilot-mem
	GOOS=windows GOARCH=amd64 $(GO) build -o /dev/null ./cmd/copilot-mem-hook
	GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/copilot-mem
	GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/copilot-mem-hook

# Programs for other people's machines: bin/release/<os>-<arch>/, what `copilot-mem build --binaries` takes.
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
HOST = $(shell $(GO) env GOOS)/$(shell $(GO) env GOARCH)
RELEASE ?= bin/release
DIST ?= dist
HOST_DIR = $(RELEASE)/$(subst /,-,$(HOST))

programs:
	@set -e; for t in $(PLATFORMS); do \
	  echo "$$t: both programs"; \
	  GOOS=$${t%/*} GOARCH=$${t#*/} $(BUILD) -o "$(RELEASE)/$${t%/*}-$${t#*/}/" ./cmd/copilot-mem ./cmd/copilot-mem-hook; \
	done

# The small program for every system, the large one for this one only: what a rehearsal needs.
hooks:
	@set -e; for t in $(PLATFORMS); do \
	  echo "$$t: copilot-mem-hook"; \
	  GOOS=$${t%/*} GOARCH=$${t#*/} $(BUILD) -o "$(RELEASE)/$${t%/*}-$${t#*/}/" ./cmd/copilot-mem-hook; \
	done
	$(BUILD) -o "$(HOST_DIR)/" ./cmd/copilot-mem

# The plugin for all systems and the archives of the programs, into $(DIST).
pack:
	rm -rf "$(DIST)"
	"$(HOST_DIR)/copilot-mem" build --target all --binaries "$(RELEASE)" --out "$(DIST)" --max-size 100MB
	$(GO) run ./release -programs "$(RELEASE)" -self "$(HOST_DIR)/copilot-mem" -out "$(DIST)"

verify-release:
	"$(HOST_DIR)/copilot-mem" validate --strict "$(DIST)"
	cd "$(DIST)" && if command -v sha256sum >/dev/null; then sha256sum -c SHA256SUMS; else shasum -a 256 -c SHA256SUMS; fi
	grep -q '"pkg:golang/modernc.org/sqlite@' "$(DIST)"/copilot-mem-cli_*.cdx.json

# All that a release is made of; .github/workflows/release.yml only uploads it.
release: programs
	$(MAKE) pack
	$(MAKE) verify-release

# The same with less to compile, in a folder of its own.
release-dry-run:
	$(MAKE) hooks RELEASE=bin/dry-run
	$(MAKE) pack RELEASE=bin/dry-run DIST=bin/dry-run-dist
	$(MAKE) verify-release RELEASE=bin/dry-run DIST=bin/dry-run-dist

# golangci-lint where it is installed; gofmt and vet everywhere.
lint:
	@test -z "$$(gofmt -l cmd internal e2e bench release *.go)" || { gofmt -l cmd internal e2e bench release *.go; echo "run gofmt -w on these"; exit 1; }
	@if command -v golangci-lint >/dev/null; then golangci-lint run; else echo "golangci-lint is not installed: gofmt and vet only"; fi

golden:
	$(GO) test ./internal/render -update

e2e: build
	sh e2e/install-client.sh
	$(GO) vet -tags e2e ./e2e
	$(GO) test -tags e2e -count=1 -timeout 15m ./e2e

bench: bench-hook bench-recall
	$(GO) test -run '^$$' -bench . -benchmem ./internal/redact ./internal/search ./internal/store ./internal/validate ./internal/digest ./internal/capture

bench-hook:
	$(GO) run ./bench

# How well questions find what answers them; LOCOMO=locomo10.json measures the public set too.
bench-recall:
	$(GO) run ./bench/recall $(if $(LOCOMO),-locomo $(LOCOMO))

# What agents are told by themselves: is it the right thing, and what does it cost?
bench-told:
	$(GO) run ./bench/told

# Only what deciding costs, with the limits that it is meant to keep.
bench-policy:
	$(GO) run ./bench -policy

fuzz:
	@for p in hook spool redact plugin validate bundle render store config digest policy policy/expr policy/facts policy/glob policy/script guard; do \
	  for f in $$($(GO) test -list 'Fuzz.*' ./internal/$$p | grep ^Fuzz); do \
	    $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime 30s ./internal/$$p || exit 1; \
	  done; \
	done
