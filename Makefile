# One target directory serves all; tests run in release, since linear algebra without optimisation would sink them.
.PHONY: demo test bench docs

demo:
	cargo run --release --quiet -- demo

test:
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets -- -D warnings
	cargo test --release --workspace
	RUSTDOCFLAGS="-D warnings" cargo doc --release --workspace --no-deps

bench:
	cargo bench --workspace --bench '*'

docs:
	cargo doc --release --workspace --no-deps
	@echo "open target/doc/menet/index.html"
