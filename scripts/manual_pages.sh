#!/usr/bin/env bash
# Writes the completions for every shell and the manual pages of the command and its subcommands, as a release packs them:
#
#   scripts/manual_pages.sh target/release/menet FOLDER
set -euo pipefail
command=$1 folder=$2
mkdir -p "$folder/completions" "$folder/man/man1"

"$command" completions bash >"$folder/completions/menet.bash"
"$command" completions elvish >"$folder/completions/menet.elv"
"$command" completions fish >"$folder/completions/menet.fish"
"$command" completions powershell >"$folder/completions/_menet.ps1"
"$command" completions zsh >"$folder/completions/_menet"
"$command" man --out "$folder/man/man1"
ls "$folder/completions" "$folder/man/man1"
