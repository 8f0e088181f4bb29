# Run `make` without arguments for a list of the targets.
.DEFAULT_GOAL := help
.PHONY: help run test jitter powerloss fuzz mutants frameworks check check-macos fmt gen bench install dist dist-test
# The page is deleted if its build fails at the last step, the check of its size.
.DELETE_ON_ERROR:

BIN_DIR ?= $(HOME)/.local/bin
TARGET  := $(or $(CARGO_TARGET_DIR),target)

# The sources of the page. It is rebuilt when one of them is newer.
PAGE    := web/dist/index.html
SOURCES := $(shell find web/src web/public web/scripts sdk/react/src sdk/typescript/src -type f ! -name '*.test.*') \
           $(wildcard tsconfig.base.json web/*.html web/*.json web/*.ts sdk/react/package.json sdk/typescript/package.json)
# The installed JavaScript packages for the page and both SDKs, from one lock file.
PACKAGES := node_modules/.package-lock.json

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(PACKAGES): package-lock.json
	@scripts/need.sh page
	npm ci
	@touch $@

$(PAGE): $(PACKAGES) $(SOURCES)
	npm run build --workspace web

run: ## build, start the server in the background, open a first ask here
	@scripts/need.sh build page
	@echo "Compiling Sayso and building its page: 2 to 4 minutes the first time, seconds later."
	@$(MAKE) --no-print-directory -j2 binary $(PAGE)
	@scripts/run.sh $(TARGET)/debug/sayso

.PHONY: binary page packages
binary:
	cargo build --package sayso

page: $(PAGE)

packages: $(PACKAGES)

test: $(PAGE) ## install what the tests need and run all of them
	@scripts/test.sh

jitter: $(PAGE) ## run the tests with random pauses and slow replies, to find races
	@scripts/need.sh build test browser
	scripts/jitter.sh

powerloss: ## simulate 1,000 power losses of the database, or SAYSO_POWERLOSS_POINTS
	@scripts/need.sh build
	SAYSO_POWERLOSS_POINTS=$${SAYSO_POWERLOSS_POINTS:-1000} cargo test --package sayso-store --test it powerloss:: -- --nocapture

fuzz: ## decide 1,000,000 random command lines, or SAYSO_FUZZ_LINES, and run them in bash and dash; then fuzz routes and policies
	@scripts/need.sh build
	CARGO_PROFILE_DEV_OPT_LEVEL=1 SAYSO_FUZZ_LINES=$${SAYSO_FUZZ_LINES:-1000000} SAYSO_FUZZ_SEED=$${SAYSO_FUZZ_SEED:-$$(date +%s)} \
		cargo test --target-dir $(TARGET)/fuzz --package sayso-core --test it shell_fuzz:: -- --nocapture
	CARGO_PROFILE_DEV_OPT_LEVEL=1 PROPTEST_CASES=$${SAYSO_FUZZ_CASES:-50000} \
		cargo test --target-dir $(TARGET)/fuzz --package sayso-core --test it -- policy_properties:: policy_commands::
	cargo test --package sayso-server --test it -- roles:: scopes::

mutants: ## change the code of the policy and of asks, one place at a time, and run the tests of the core on it
	@scripts/need.sh build
	scripts/mutants.sh

frameworks: $(PACKAGES) ## test the adapters for all agent frameworks; installs about 800 MB of Python packages and 300 MB from npm
	@scripts/need.sh build test page
	cargo build --package sayso
	scripts/typescript-frameworks.sh
	scripts/python-sdk.sh --frameworks

check: ## run all of CI: format, lints, generated files, tests
	.ci/run

fmt: $(PACKAGES) ## format the code
	cargo fmt --all
	npm run fmt

gen: $(PACKAGES) ## regenerate the generated files
	cargo build --workspace --bins
	$(TARGET)/debug/gen
	npm run gen --workspace sdk/typescript
	python3 sdk/python/scripts/gen_types.py

bench: $(PAGE) ## run the benchmarks and those of the closest peer; prints one JSON object per line
	@scripts/need.sh build browser agents
	cargo build --release --workspace --bins
	scripts/bench.sh
	@SAYSO_BIN=$(abspath $(TARGET)/release/sayso) npm run --silent bench --workspace web
	@npm run --silent build --workspace sdk/typescript
	@SAYSO_BIN=$(abspath $(TARGET)/release/sayso) npm run --silent bench --workspace sdk/typescript

dist: ## build all packages of a release into dist/: binaries, npm, wheels, deb, image
	@scripts/dist/all.sh

dist-test: ## test the packages in dist/, each with an empty home directory and without network
	@scripts/dist/test/all.sh

check-macos: ## compile and lint for macOS; needs the standard libraries of both Apple targets
	@scripts/check-macos.sh

install: $(PAGE) ## put sayso into ~/.local/bin
	@scripts/need.sh build
	cargo build --release --package sayso
	install -D -m 755 $(TARGET)/release/sayso "$(BIN_DIR)/sayso"
	@case ":$$PATH:" in *":$(BIN_DIR):"*) ;; *) echo "Add $(BIN_DIR) to your PATH.";; esac
	@echo "Installed $(BIN_DIR)/sayso. Try: sayso start mock \"ask me a question\""
