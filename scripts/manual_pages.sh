#!/usr/bin/env bash
# Writes the completions for every shell and the manual pages of the command and its subcommands, as a release packs them:
#
#   scripts/manual_pages.sh target/release/menet FOLDER
#
# The page of the command is what `menet man` prints. The page of a subcommand is made from its help, by help2man.
set -euo pipefail
command=$1 folder=$2
mkdir -p "$folder/completions" "$folder/man/man1"

"$command" completions bash >"$folder/completions/menet.bash"
"$command" completions elvish >"$folder/completions/menet.elv"
"$command" completions fish >"$folder/completions/menet.fish"
"$command" completions powershell >"$folder/completions/_menet.ps1"
"$command" completions zsh >"$folder/completions/_menet"

"$command" man >"$folder/man/man1/menet.1"
version=$("$command" --version)
# The page of the command lists the others, as `menet\-fit(1)`. Help has none: it prints the help of the others.
subcommands=$(sed -n 's/^menet\\-\([a-z]*\)(1)$/\1/p' "$folder/man/man1/menet.1" | grep -vx help)
for name in $subcommands; do
  about=$(grep -A 1 "^menet\\\\-$name(1)$" "$folder/man/man1/menet.1" | sed -e 1d -e 's/\\-/-/g' -e "s/\\\\\*(Aq/'/g")
  # help2man takes the title from the name of the program, which is the same for all.
  help2man --no-info --name "$about" --version-string "${version#* }" "$command $name" |
    sed -e "s/^\.TH MENET /.TH MENET-${name^^} /" -e "/^\.SH NAME/{n;s/^menet $name /menet\\\\-$name /}" \
      >"$folder/man/man1/menet-$name.1"
done
ls "$folder/completions" "$folder/man/man1"
