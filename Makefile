# The repository's commands. Needs Go, Python >= 3.11 with venv, a C++17 compiler and make; the rest comes pinned
# into .venv.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

GO ?= go
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OPCAST := build/bin/opcast
GOLANGCI_VERSION := v2.15.0
GOLANGCI_LINT := $(BIN)/golangci-lint-$(GOLANGCI_VERSION)

# Tests that need Python take it from here; they fail, not skip, where this is set.
export OPCAST_TEST_PYTHON := $(CURDIR)/$(BIN)/python

# The repository's files, committed or not.
FILES := git ls-files --cached --others --exclude-standard

.PHONY: help quickstart gen build wheels cuda check format lint test test-all conformance sanitize ulp mutants matrix random fuzz bench benchpeers site requirements clean opcast

help: ## List these targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

quickstart: ## Set everything up and run real models through every adaptor.
	$(MAKE) --no-print-directory -j2 opcast $(VENV)/.installed
	cp $(OPCAST) $(BIN)/opcast
	$(OPCAST) build --python $(VENV) --device cpu --native
	$(BIN)/python examples/digits
	$(BIN)/python examples/llama

gen: opcast ## Generate the sources from opdefs/, and the pages and schemas of the tool.
	$(OPCAST) gen
	$(OPCAST) explain --all >docs/diagnostics.md
	for file in definition manifest; do $(OPCAST) schema $$file >docs/$$file.schema.json; done

build: opcast $(VENV)/.installed ## Build the libraries and link the packages into .venv.
	$(if $(CUDA_ARCH),OPCAST_CUDA_ARCH=$(CUDA_ARCH)) $(OPCAST) build --python $(VENV)

wheels: opcast $(VENV)/.installed ## Write the wheels of the packages, and of the tool, into dist/.
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags='-s -w -buildid=' -o build/wheel/opcast ./cmd/opcast
	$(if $(CUDA_ARCH),OPCAST_CUDA_ARCH=$(CUDA_ARCH)) $(OPCAST) wheel --python $(VENV) $(if $(DEVICE),--device $(DEVICE)) --script build/wheel/opcast

cuda: $(VENV)/.cuda ## Install a CUDA compiler into .venv; the next build uses it.

check: opcast generated $(VENV)/.installed ## Check formats, types, definitions and generated files.
	@bad=$$(gofmt -l $$($(FILES) '*.go')); test -z "$$bad" || { echo "gofmt: run make format for $$bad" >&2; exit 1; }
	$(GO) vet ./...
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/pyright
	$(BIN)/clang-format --dry-run -Werror $$($(FILES) '*.h' '*.cc' '*.cu' '*.hip')
	$(OPCAST) check
	$(OPCAST) fmt --check
	$(OPCAST) -C conformance/museum fmt --check
	@$(OPCAST) explain --all | cmp -s - docs/diagnostics.md || { echo "docs/diagnostics.md is not up to date: run make gen" >&2; exit 1; }
	@for file in definition manifest; do $(OPCAST) schema $$file | cmp -s - docs/$$file.schema.json || \
		{ echo "docs/$$file.schema.json is not up to date: run make gen" >&2; exit 1; }; done

format: opcast $(VENV)/.installed ## Format all hand-written sources.
	gofmt -w $$($(FILES) '*.go')
	$(BIN)/ruff format --quiet
	$(OPCAST) fmt
	$(BIN)/clang-format -i $$($(FILES) '*.h' '*.cc' '*.cu' '*.hip')

lint: $(GOLANGCI_LINT) ## Run the Go linters (the first run compiles them: minutes).
	$(GOLANGCI_LINT) run

# Three tests of a package run beside each other, since most wait for interpreters that start. Ginkgo refuses the flag -parallel. The
# packages that take longest begin: at the end they would leave processors idle.
# `make check` has vetted the code. Nothing that an earlier run has compiled hides what this one does not, and nobody below looks for
# make's jobserver.
define RUN_TESTS
rm -rf build/cache
$(GO) build -o build/ccache/ccache ./internal/testkit/ccache
unset MAKEFLAGS; cxx="$${CXX:-c++}"; PATH="$(CURDIR)/build/ccache:$$PATH" CXX="ccache $${cxx#ccache }" CCACHE_DIR="$(CURDIR)/build/ccache/objects" \
	OPCAST_CACHE_DIR="$(CURDIR)/build/cache" OPCAST_CUDA_ARCH=90 GOMAXPROCS=3 \
	$(GO) test -json -count=1 -vet=off -p=2 -timeout=$(TIMEOUT) $(SHORT) ./conformance/internal/run ./internal/e2e ./... | $(GO) run ./internal/testkit/testsum
endef

TIMEOUT = 80m# of a package
test: SHORT = -short
test: cuda check cpu-library examples/real/vllm ## Run tests of every kind, the long ones with some ops; they need minutes.
	$(RUN_TESTS)

test-all: TIMEOUT = 12h# the long tests of two packages need hours
test-all: CUDA_ARCH = 90# each further one takes minutes; a release has those of opcast.toml
test-all: cuda check build examples/real/vllm ## Run all tests with all ops; they need hours.
	$(RUN_TESTS)

conformance: build ## Run every op through every adaptor.
	$(OPCAST) test --python $(VENV) --jobs 2

# GCC's sanitizers before version 14 may refuse addresses of more than 28 random bits. Why the checks of nulls are off: internal/build/sanitize.go.
STEADY = $(shell [ "$$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)" -le 28 ] || echo setarch -R)
sanitize: build ## Run the C++ tests and the suite's bare callers under sanitizers; takes ten minutes.
	for kinds in address,undefined thread; do \
		CXX="$${CXX:-g++} -g1 -fsanitize=$$kinds -fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute -fno-sanitize-recover=all" \
			ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=die_after_fork=0:report_signal_unsafe=0 \
			$(STEADY) $(GO) test -count=1 -timeout=40m -run='^TestCPP' ./internal/e2e; \
	done
	for kind in address undefined thread; do \
		$(OPCAST) test --python $(VENV) --sanitize $$kind --random 300 --jobs 2 --report build/sanitize/$$kind/report; \
	done

ulp: ## Hold the kernels' functions of floats against the C library's for every float; takes minutes.
	@mkdir -p build
	for options in "" "-mavx2 -mfma -mf16c"; do \
		$${CXX:-c++} -std=c++17 -O3 -ffp-contract=off $$options -I backend -I csrc csrc/tests/ulp.cc -o build/ulp && build/ulp; \
	done

mutants: build ## Change a copy in small ways, one at a time, and count which changes the suite notices; takes long.
	$(OPCAST) mutants --python $(VENV) --markdown docs/mutants.md

matrix: build ## Run the suite with oldest and newest versions; the table in docs/status.md.
	$(OPCAST) matrix --python $(VENV) --markdown docs/status.md

random: build ## Make a million random calls of the library; about two minutes.
	$(OPCAST) test --python $(VENV) --adaptor native --only <(echo '* native random-calls') \
		--random-total 1000000 --report build/random

fuzz: ## Fuzz the loader of definitions for half an hour, then expressions.
	$(GO) test ./internal/language/opdef/load -run='^$$' -fuzz=FuzzLoad -fuzztime=30m
	$(GO) test ./internal/language/opdef/expr -run='^$$' -fuzz=FuzzExpr -fuzztime=10m

bench: build ## Measure what is promised, within 20 minutes, and print which budgets hold.
	GO="$(GO)" $(BIN)/python bench/all.py

benchpeers: $(VENV)/.installed ## Install further peers of the benchmarks into build/bench/peers (half a gigabyte).
	rm -rf build/bench/peers
	$(BIN)/uv pip install --quiet --require-hashes --no-deps --python $(BIN)/python --target build/bench/peers -r requirements/bench.txt

site: $(VENV)/.installed ## Build the documentation into build/site, to be read from there or from a server.
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict -f site/mkdocs.yaml

# What is locked stays locked unless its line in the .in file changes; LOCK=--upgrade takes the newest of the rest.
requirements: | $(VENV)/.installed ## Lock requirements/*.in again: all packages, with the hashes of their files.
	for list in uv test lint docs cuda bench vllm vllm-setup; do \
		case $$list in lint | docs) with="--constraints requirements/test.txt" ;; cuda | bench | vllm*) with=--no-deps ;; *) with= ;; esac; \
		$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url $$with $(LOCK) \
			--custom-compile-command 'make requirements' --output-file requirements/$$list.txt requirements/$$list.in; \
	done

clean: ## Delete what was built; .venv stays.
	rm -rf build dist

opcast:
	$(GO) build -o $(OPCAST) ./cmd/opcast

# A build would bring what is out of date up to date before anybody sees it.
generated: opcast
	$(OPCAST) gen --check

# Code for GPUs would take minutes.
cpu-library: opcast generated $(VENV)/.installed
	$(OPCAST) build --python $(VENV) --device cpu

$(VENV)/.installed: requirements/uv.txt requirements/test.txt requirements/lint.txt requirements/docs.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/uv.txt
	$(BIN)/uv pip install --quiet --require-hashes --python $(BIN)/python $(foreach list,test lint docs,-r requirements/$(list).txt)
	@# Workers write no bytecode, and tests start dozens of them: what they import is compiled once, here.
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -W ignore -c 'import jax.export, paddle, torch._inductor.compile_fx, torch.distributed.tensor.debug'
	touch $@

$(VENV)/.cuda: requirements/cuda.txt $(VENV)/.installed
	$(BIN)/uv pip install --quiet --require-hashes --no-deps --python $(BIN)/python -r $<
	touch $@

# pip asks vLLM's setup.py for its version before it keeps the archive.
examples/real/vllm: requirements/vllm.txt requirements/vllm-setup.txt $(VENV)/.installed
	rm -rf build/vllm $@
	$(BIN)/uv pip install --quiet --require-hashes --no-deps --python $(BIN)/python --target build/vllm/setup -r requirements/vllm-setup.txt
	PYTHONPATH=$(CURDIR)/build/vllm/setup VLLM_TARGET_DEVICE=empty VLLM_VERSION_OVERRIDE=$$(sed -n 's/^vllm==\([^ ]*\).*/\1/p' $<) \
		$(BIN)/python -m pip download --quiet --require-hashes --no-deps --no-build-isolation --no-binary vllm --dest build/vllm -r $<
	mkdir build/vllm/unpacked
	tar -xzf build/vllm/vllm-*.tar.gz -C build/vllm/unpacked --strip-components=1 --no-wildcards-match-slash --wildcards 'vllm-*/LICENSE' 'vllm-*/csrc/cpu'
	touch build/vllm/unpacked
	mv build/vllm/unpacked $@

$(GOLANGCI_LINT):
	GOBIN=$(CURDIR)/$(BIN) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv $(BIN)/golangci-lint $@
