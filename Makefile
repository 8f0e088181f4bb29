# Few verbs. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help run test check fmt gen bench install

BIN_DIR ?= $(HOME)/.local/bin
TARGET  := $(or $(CARGO_TARGET_DIR),target)

help: ## list the verbs
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## build, start the server in the background, open a first ask here
	@scripts/need.sh build
	cargo build --package sayso
	@scripts/run.sh $(TARGET)/debug/sayso

test: ## install what the tests need and run all of them
	@scripts/need.sh build test agents
	cargo build --workspace --bins
	cargo build --package sayso-acp-peer --features sdk --profile peer
	cargo test --workspace
	cargo run --package sayso-testkit --bin chaos -- --kills 50
	cargo run --package sayso-testkit --bin chaos -- --kills 20 --agents process
	scripts/schemathesis.sh
	scripts/real-agents.sh

check: ## all of CI: format, lints, generated files, tests
	.ci/run

fmt: ## format the code
	cargo fmt --all

gen: ## write the generated files again
	cargo run --quiet --package sayso-testkit --bin gen

bench: ## measure; one JSON object per line
	@scripts/need.sh build
	cargo build --release --package sayso
	cargo run --release --quiet --package sayso-testkit --bin bench

install: ## put sayso into ~/.local/bin
	@scripts/need.sh build
	cargo build --release --package sayso
	install -D -m 755 $(TARGET)/release/sayso "$(BIN_DIR)/sayso"
	@case ":$$PATH:" in *":$(BIN_DIR):"*) ;; *) echo "Add $(BIN_DIR) to your PATH.";; esac
	@echo "Installed $(BIN_DIR)/sayso. Try: sayso start mock \"ask me a question\""
