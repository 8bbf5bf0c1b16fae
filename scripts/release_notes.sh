#!/usr/bin/env bash
# Sees to it that all files name the same version, and prints its notes from CHANGELOG.md:
#
#   scripts/release_notes.sh v0.2.0    before a release: the section of this version must be there
#   scripts/release_notes.sh           for a rehearsal: the section "Unreleased" will do
set -euo pipefail
cd "$(dirname "$0")/.."
tag=${1:-}
fail() {
  echo "release_notes.sh: $*" >&2
  exit 1
}

manifest() { sed -n "/^\[workspace.package\]/,/^\[workspace.dep/s/^$1 = \"\(.*\)\"/\1/p" Cargo.toml; }
version=$(manifest version)
repository=$(manifest repository)
[[ -z $tag || $tag == "v$version" ]] || fail "the tag is $tag, but Cargo.toml has version $version; the tag must be v$version"
others=$(sed -n 's/^menet.* path = .*version = "\(.*\)" }/\1/p' Cargo.toml | grep -vxF "$version" || true)
[[ -z $others ]] || fail "Cargo.toml has version $version, but asks for crates of version $others; make them the same"
grep -qx "version: $version" CITATION.cff || fail "CITATION.cff has another version than $version; change its line \"version:\""

# From the heading of a version, "## 0.2.0" or "## 0.2.0 (2026-12-01)", to the next.
section() { awk -v wanted="$1" '/^## / { inside = $2 == wanted; next } inside' CHANGELOG.md; }
notes=$(section "$version")
[[ $notes || $tag ]] || notes=$(section Unreleased)
[[ $notes ]] || fail "CHANGELOG.md has no section \"## $version\"; rename the section \"Unreleased\""
# Links to files lead to the files of this version.
sed -E "s#\]\(([^):]+)\)#](${repository}/blob/${tag:-main}/\1)#g" <<<"$notes"
