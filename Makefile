# Thin: every target is a line or two that can be typed by hand. `make help` lists them.
.PHONY: help demo build site test test-rust e2e screenshots bench-page lint supply advisories sbom campaign mutants compare bench dev clean
.DEFAULT_GOAL := help
# One selection of packages for lints, tests and the page: with another, the crates that many depend on would be compiled again.
WHOLE := --workspace --features lockscope/oidc
TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
PAGE = cargo build --locked $(WHOLE) --bin style && $(TARGET)/debug/style
# No path of the machine that builds is in the binary.
CARGO_DIR := $(or $(CARGO_HOME),$(HOME)/.cargo)
RELEASE = cargo build --release --locked --config 'build.rustflags=["--remap-path-prefix=$(CARGO_DIR)=/cargo", "--remap-path-prefix=$(CURDIR)=/lockscope"]'

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: WHOLE := --workspace
demo: ## build quickly, start a private ZooKeeper with live sample locks, and serve the dashboard
	@echo "step 1 of 4: what Lockscope needs (Rust's wasm target, a C compiler, Java, ZooKeeper)"
	@.ci/need cc wasm java zookeeper
	@echo "step 2 of 4: the page, and the tool that builds it"
	@$(PAGE)
	@echo "step 3 of 4: the server, not optimised: make build makes the one to ship"
	@cargo build --locked $(WHOLE) --bin lockscope
	@echo "step 4 of 4: a ZooKeeper with sample locks, and the dashboard"
	@$(TARGET)/debug/lockscope demo

build: site ## the release binary with the page inside: target/release/lockscope
	$(RELEASE) -p lockscope --bin lockscope
	@echo "built $(TARGET)/release/lockscope: $$(($$(wc -c < $(TARGET)/release/lockscope) / 1000)) KB; at most 25000 is the goal"

site: ## what the browser gets: wasm, style sheet, manifest (target/site)
	@.ci/need cc wasm
	$(PAGE)

test: test-rust e2e ## every test: core, real ZooKeeper, real clients, real browser

test-rust: site
	@.ci/need java javac zookeeper curator kazoo patroni promtool alertmanager postgresql schemathesis yaml systemd node wscat faketime
	@# Most tests wait for a server more than they compute.
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-$$((4 * $$(nproc)))} .ci/test-rust $(WHOLE)

e2e: site ## browser tests against the real server and a real ZooKeeper
	@.ci/need java zookeeper kazoo chromium node npm-packages
	cargo build --locked $(WHOLE) --bin lockscope --example fixture_site
	cd e2e/browser && npx tsc --noEmit && LOCKSCOPE_BIN=$(TARGET)/debug/lockscope npx playwright test

lint: ## formatting and lints, each feature set apart
	cargo fmt --all --check
	cargo clippy --locked $(WHOLE) --all-targets -- -D warnings
	cargo clippy --locked --workspace --lib --bins --example fixture_site -- -D warnings
	cargo clippy --locked -p lockscope-core -p lockscope-view --all-targets -- -D warnings
	cargo clippy --locked --workspace --exclude lockscope-campaign --exclude lockscope-compare --exclude lockscope-demo --exclude lockscope-lab --no-default-features --lib --bins -- -D warnings
	cargo clippy --locked -p lockscope-page --lib --features hydrate -- -D warnings

supply: ## licences, sources and duplicates of all crates, and dependencies that nothing uses
	@.ci/need cargo-deny cargo-machete
	.tools/bin/cargo-deny check bans licenses sources
	@# By the names under which crates are used.
	.tools/bin/cargo-machete --with-metadata

advisories: ## what RustSec knows of these crates; fetches its database, so it is no part of any test
	@.ci/need cargo-deny
	.tools/bin/cargo-deny check advisories

sbom: ## the bill of materials of the release binary, CycloneDX: target/lockscope.cdx.json
	@.ci/need cargo-cyclonedx
	.tools/bin/cargo-cyclonedx cyclonedx --manifest-path server/Cargo.toml --format json --spec-version 1.5 --override-filename lockscope.cdx
	@mv server/lockscope.cdx.json $(TARGET)/ && rm -f app/*/lockscope.cdx.json server/*/lockscope.cdx.json e2e/*/lockscope.cdx.json style/lockscope.cdx.json

screenshots: site ## the pictures in docs/ anew, from the demo and from made-up locks (ten minutes)
	@.ci/need java zookeeper kazoo chromium node npm-packages
	cargo build --locked $(WHOLE) --bin lockscope --example fixture_site
	cd e2e/browser && SCREENSHOTS=1 LOCKSCOPE_BIN=$(TARGET)/debug/lockscope npx playwright test screenshots --project javascript-on --workers 1

bench-page: site ## the page in a browser: a queue of 10,000 that changes 50 times a second, a board until it is taken over, and pages left open (half an hour)
	@.ci/need java zookeeper kazoo chromium node npm-packages
	cargo build --locked $(WHOLE) --bin lockscope --example fixture_site
	cd e2e/browser && BENCH=1 LOCKSCOPE_BIN=$(TARGET)/debug/lockscope npx playwright test frames growth --project javascript-on --workers 1

campaign: site ## every fault against the release binary, judged by ZooKeeper's transaction log: SEEDS=3, ONLY=cut,late-link
	@.ci/need java javac zookeeper curator kazoo alertmanager
	$(RELEASE) -p lockscope --bin lockscope
	$(RELEASE) -p lockscope-campaign
	$(TARGET)/release/campaign --seeds $(or $(SEEDS),1) --out $(TARGET)/campaign $(if $(ONLY),--only $(ONLY)) $(if $(DOCUMENT),--document $(DOCUMENT)) $(if $(ALERTS_DOCUMENT),--alerts-document $(ALERTS_DOCUMENT))

mutants: ## takes out what the promise rests on, one thing at a time in a copy, and fails unless a test turns red each time
	cargo build --locked $(WHOLE) --bin campaign
	$(TARGET)/debug/campaign --mutants $(ONLY)

compare: site ## Lockscope beside bare watchers, Curator and kazoo, each alone with the same load: ROUNDS=3, ONLY=events,sync
	@.ci/need java javac zookeeper curator kazoo alertmanager
	$(RELEASE) -p lockscope --bin lockscope
	$(RELEASE) -p lockscope-compare
	$(TARGET)/release/compare --rounds $(or $(ROUNDS),3) --out $(TARGET)/compare $(if $(ONLY),--only $(ONLY))

bench: site ## benchmarks: the reducer, the recording, a real deadlock, and the whole line and a reconnect against bare clients
	@.ci/need java zookeeper postgresql
	cargo bench --locked -p lockscope-core -p lockscope-history -p lockscope-txn-log -p lockscope-view --features lockscope-history/postgres
	cargo bench --locked -p lockscope

dev: ## rebuild and restart on every change (needs nothing but cargo: polls the sources)
	@.ci/need wasm java zookeeper
	.ci/dev

clean: ## remove everything that was built
	cargo clean
	rm -rf e2e/browser/node_modules e2e/browser/test-results .tools
