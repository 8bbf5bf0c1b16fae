#!/usr/bin/env bash
# Sees to it that `cargo run`, the tests and the wheel choose the same features of every dependency. Where they differ, a
# dependency and all that depends on it are compiled once more: ask for the feature in the workspace's manifest.
set -euo pipefail
# With the target by name, cargo tree tells what it compiles for build scripts and macros from what it compiles for the program.
target=$(rustc --version --verbose | sed -n 's/^host: //p')
features() {
  cargo tree --locked --target "$target" --prefix none --format '{p} [{f}]' "$@" | sed 's/ (\*)$//' | grep -v ' ([^)]*/crates/' | sort -u
}
all=$(features --workspace --edges normal,build,dev)
for packages in "" "--package menet-python"; do
  # shellcheck disable=SC2086 # none or two words
  if different=$(features $packages --edges normal,build | comm -23 - <(echo "$all") | grep .); then
    echo "cargo ${packages:-run} chooses other features than cargo test --workspace:" >&2
    echo "$different" >&2
    exit 1
  fi
done
