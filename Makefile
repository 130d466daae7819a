# SPDX-License-Identifier: MIT OR Apache-2.0
# Each target sets up what it needs; see ./setup.

.PHONY: demo test test-long audit build static deb bench lab lab-full

# Finds the colors of this machine's cache, places memory by them, shows the
# difference; pictures in out/.
demo: build
	target/release/huepage demo

build:
	./setup
	cargo build --release --locked --package huepage-cli --package huepage-preload \
		--package huepage-heap

# The command without libraries, for any Linux of the two architectures. Rust brings the
# C library and the linker.
static: export CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER = rust-lld
static: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER = rust-lld
static:
	./setup static
	cargo build --release --locked --package huepage-cli \
		--target x86_64-unknown-linux-musl --target aarch64-unknown-linux-musl

test:
	./setup test
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --all-features
	# The library with each set of its features, and all without measurement, as on other
	# architectures.
	for features in "" serde measure measure,serde map; do \
		cargo clippy --locked --package huepage --all-targets --no-default-features \
			--features "$$features" -- -D warnings || exit; done
	cargo clippy --locked --workspace --no-default-features -- -D warnings
	# What chooses frames: pure C, so tested as a program, with sanitizers.
	$(MAKE) --no-print-directory -C kernel/harness test
	lab/mutants/check
	cargo test --locked --workspace

# What test leaves out: it builds kernels of its own, or boots for half an hour and more.
test-long:
	./setup test
	cargo test --locked --workspace --test lab -- --ignored

# Debian packages of what is here, in target/deb; of a kernel: huepage-lab kernel deb.
deb:
	./setup lab
	debian/rules clean binary

# Licences, unused dependencies, the oldest Rust, semantic versions.
audit:
	.ci/audit

# Discovery, assignment and moving of pages, timed by criterion.
bench:
	./setup
	cargo bench --locked --package huepage

# Experiments on real kernels under the modelled hierarchy: a part of each, which takes two
# CPUs under an hour, into results/standard. What took how long is told there.
lab:
	./setup lab
	cargo build --release --locked --package huepage-lab
	lab/standard/run results/standard

LAB = aging ksm-nodes working-set zero-pages frame-order sequential-io fault-cost zone-lock \
	mixed thirty-days two-guests scale

# All of each, into results: days. Goes on where one fails, and ends with 1 then. The report
# ends with 3 where an experiment has no results yet.
lab-full:
	./setup lab
	cargo build --release --locked --package huepage-lab
	code=0; for experiment in $(LAB); do \
		target/release/huepage-lab run $$experiment --resume > /dev/null || code=1; done; \
	target/release/huepage-lab report -o results/lab.md || test $$? = 3 || code=1; exit $$code
