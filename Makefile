# One target directory serves all; tests run in release, since linear algebra without optimisation would sink them.
.PHONY: demo test bench docs fixtures browser

demo:
	cargo run --release --quiet -- demo

# The samples of tests/data, made anew by SciPy and Arrow, so that the readers meet what those write today. Where Python is not
# at hand the committed samples are tested alone.
fixtures:
	@rm -rf target/fixtures && mkdir -p target/fixtures
	@{ test -x target/python/bin/python || python3 -m venv target/python; } \
	  && target/python/bin/python -m pip install --quiet --disable-pip-version-check numpy scipy pyarrow \
	  && target/python/bin/python scripts/fixtures.py target/fixtures \
	  || echo "no Python with NumPy, SciPy and Arrow: only the committed samples are tested"

test: fixtures
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets -- -D warnings
	MENET_FIXTURES=$(CURDIR)/target/fixtures cargo test --release --workspace
	RUSTDOCFLAGS="-D warnings" cargo doc --release --workspace --no-deps
	$(MAKE) browser

# The report of data with hostile names, opened and used in headless Chromium. Where that or selenium cannot be had,
# nothing is tested and nothing fails; where they can, what the test finds counts.
browser:
	@if { { test -x /usr/bin/chromium && test -x /usr/bin/chromedriver; } \
	      || { apt-get update && apt-get install --yes chromium chromium-driver; } >/dev/null 2>&1; } \
	   && { test -x target/python/bin/python || python3 -m venv target/python; } \
	   && target/python/bin/python -m pip install --quiet --disable-pip-version-check selenium; then \
	  rm -rf target/report && cargo build --release --quiet --workspace --example sample_report \
	  && target/release/examples/sample_report target/report --hostile \
	  && target/python/bin/python scripts/test_report.py target/report/report.html; \
	else \
	  echo "no Chromium with its driver and selenium: the report is not tested in a browser"; \
	fi

bench:
	cargo bench --workspace --bench '*'

docs:
	cargo doc --release --workspace --no-deps
	@echo "open target/doc/menet/index.html"
