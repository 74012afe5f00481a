# `make` alone lists the targets. CI runs .ci/run, which uses the same commands.

STATICCHECK = go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
ERRORLINT = go run codeberg.org/polyfloyd/go-errorlint@v1.9.0
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
UP_FLAGS =
BENCH_FLAGS =

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/kubesim
	CGO_ENABLED=0 go build -trimpath -o bin/ ./cmd/kubesim

.PHONY: up
up: build ## Start a cluster on 127.0.0.1:8080 (UP_FLAGS="--nodes 100")
	bin/kubesim up $(UP_FLAGS)

.PHONY: test
test: ## Run all tests
	go test ./...

.PHONY: race
race: ## Run all tests with the race detector
	go test -race ./...

.PHONY: compat
compat: ## Run Helm and a controller-runtime manager against a sandbox
	cd compat && go test -mod=mod ./... # its requirements follow those of the module above

.PHONY: ui
ui: ## Test the page in chromium and remake its screenshots
	go test ./ui -count=1 -v -args -screenshots $(CURDIR)/docs/page -pods 5000 -events 100000

.PHONY: lint
lint: ## Check format and style
	@test -z "$$(gofmt -l .)" || { echo "not gofmt-ed:"; gofmt -l .; exit 1; }
	go vet ./...
	$(ERRORLINT) ./...

.PHONY: staticcheck
staticcheck: ## Look for more with staticcheck (takes minutes the first time)
	$(STATICCHECK) ./...

.PHONY: bench
bench: build ## Measure kubesim beside raw embedded etcd (BENCH_FLAGS="--objects 1000")
	bin/kubesim bench $(BENCH_FLAGS)

.PHONY: cross
cross: ## Build for all platforms, without cgo
	@for platform in $(PLATFORMS); do \
		os=$${platform%/*} arch=$${platform#*/}; \
		suffix=; test $$os != windows || suffix=.exe; \
		echo "$$os/$$arch"; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch go build -trimpath -o bin/kubesim-$$os-$$arch$$suffix ./cmd/kubesim || exit 1; \
	done

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin
