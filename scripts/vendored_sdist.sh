#!/usr/bin/env bash
# The source distribution of the Python package with the sources of all crates that it needs, for machines without a network:
#
#   scripts/vendored_sdist.sh FOLDER            writes FOLDER/menet-VERSION-vendored.tar.gz
#   scripts/vendored_sdist.sh FOLDER --check    then builds a wheel from it without a network, and fits a model with it
#
# It needs maturin, as target/venv has it after `make wheel`. The check also needs numpy and scikit-learn, and root to cut off the network.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mkdir -p "$1" && cd "$1" && pwd)
python=${PYTHON:-$root/target/venv/bin/python}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$root"
"$python" -m maturin sdist --out "$work" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
tar -xzf "$work"/menet-*.tar.gz -C "$work"
source=$(find "$work" -maxdepth 1 -type d -name 'menet-*')
# The lock file still names the command, which is not part of the package: without `--locked`, cargo forgets it and changes nothing else.
mkdir -p "$source/.cargo"
# It prints the settings that make cargo use the folder, unless it is told to be quiet.
(cd "$source" && cargo vendor --versioned-dirs vendor >.cargo/config.toml 2>"$work/log") || { cat "$work/log" >&2; exit 1; }
name=$(basename "$source")-vendored
mv "$source" "$work/$name"
tar -czf "$folder/$name.tar.gz" --owner=0 --group=0 --numeric-owner -C "$work" "$name"
ls -l "$folder/$name.tar.gz"
[[ ${2:-} == --check ]] || exit 0

mkdir "$work/check" "$work/cargo"
tar -xzf "$folder/$name.tar.gz" -C "$work/check"
# No network, and nothing that cargo has fetched before.
env CARGO_HOME="$work/cargo" PATH="$(dirname "$python"):$PATH" unshare --net "$python" -m pip wheel --quiet --disable-pip-version-check --no-index --no-build-isolation --no-deps \
  --wheel-dir "$work/wheel" "$work/check/$name"
mkdir "$work/installed"
unzip -q "$work"/wheel/menet-*.whl -d "$work/installed"
cd "$work"
PYTHONPATH=$work/installed "$python" -c '
import os, menet, menet.datasets
assert os.path.dirname(menet.__file__).startswith(os.environ["PYTHONPATH"]), menet.__file__
X, y = menet.datasets.load_leukemia(return_X_y=True)
assert menet.ManifoldElasticNet(panel_size=10).fit(X, y).kkt_violation_.max() < 1e-9
print("menet", menet.__version__, "was built without a network, and works")'
