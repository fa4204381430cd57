# What a person types. `make` builds, `make test` proves, `make bench` measures.
GO ?= go
export CGO_ENABLED ?= 0
BUILD = $(GO) build -trimpath -ldflags "-s -w"
# The store is left out: SQLite's translated C takes minutes under the race detector.
RACE = ./internal/spool ./internal/capture ./internal/ingest ./internal/guard

.PHONY: build install test unit race cross lint golden e2e bench bench-hook bench-policy fuzz

build:
	$(BUILD) -o bin/ ./cmd/copilot-mem ./cmd/copilot-mem-hook

# The main job on a fresh machine: build, install for this user, show it working on a recorded event.
install: build
	./bin/copilot-mem init --scope user --yes
	./bin/copilot-mem capture userPromptSubmitted < docs/first-prompt.json
	./bin/copilot-mem search --all "hello copilot-mem"
	./bin/copilot-mem doctor

test: lint unit race cross e2e

unit:
	$(GO) vet ./...
	$(GO) test ./...

race:
	CGO_ENABLED=1 $(GO) test -race $(RACE)

cross:
	GOOS=windows GOARCH=amd64 $(GO) build -o /dev/null ./cmd/copilot-mem
	GOOS=windows GOARCH=amd64 $(GO) build -o /dev/null ./cmd/copilot-mem-hook
	GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/copilot-mem
	GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/copilot-mem-hook

# golangci-lint where it is installed; gofmt and vet everywhere.
lint:
	@test -z "$$(gofmt -l cmd internal e2e bench *.go)" || { gofmt -l cmd internal e2e bench *.go; echo "run gofmt -w on these"; exit 1; }
	@if command -v golangci-lint >/dev/null; then golangci-lint run; else echo "golangci-lint is not installed: gofmt and vet only"; fi

golden:
	$(GO) test ./internal/render -update

e2e: build
	sh e2e/install-client.sh
	$(GO) vet -tags e2e ./e2e
	$(GO) test -tags e2e -count=1 -timeout 15m ./e2e

bench: bench-hook
	$(GO) test -run '^$$' -bench . -benchmem ./internal/redact ./internal/search ./internal/store

bench-hook:
	$(GO) run ./bench

# Only what deciding costs, with the limits that it is meant to keep.
bench-policy:
	$(GO) run ./bench -policy

fuzz:
	@for p in hook spool redact plugin policy policy/expr policy/facts policy/glob policy/script guard; do \
	  for f in $$($(GO) test -list 'Fuzz.*' ./internal/$$p | grep ^Fuzz); do \
	    $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime 30s ./internal/$$p || exit 1; \
	  done; \
	done
