#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Documentation that can be wrong is run: every `folioscope ...` line of a ```sh block must
# exit with 0, or with the status that a comment at its end names: `... # exits 1`.
set -u
. tests/tap.sh

program=$(realpath "$FOLIOSCOPE")
documents=$(ls README.md docs/*.md docs/*/*.md 2>/dev/null)

# shellcheck disable=SC2086
awk '
	/^ *```sh$/ { block = 1; next }
	/^ *```/ { block = 0 }
	block { sub(/^ *(\$ )?/, "") }
	block && /^(build\/)?folioscope / { print FILENAME ":" FNR "\t" $0 }
' $documents >"$O/tests/commands"

commands=0
while IFS=$'\t' read -r place command; do
	want=0
	[[ $command =~ \#\ exits\ ([0-9])$ ]] && want=${BASH_REMATCH[1]}
	commands=$((commands + 1))
	out=$(timeout 20 bash -o pipefail -c "folioscope() { '$program' \"\$@\"; }; ${command#build/}" \
		2>&1 >/dev/null </dev/null)
	status=$?
	if [[ $status -eq $want ]]; then
		pass "$place: $command"
	else
		fail "$place: $command" "exit status $status, documented $want"$'\n'"$out"
	fi
done <"$O/tests/commands"
check "there are documented commands" test $commands -gt 5

# Links between documents.
# shellcheck disable=SC2086
broken=$(grep -HnoE '\]\([^)#:]+' $documents | while IFS=: read -r file line link; do
	link=${link#*\(}
	[[ -e $(dirname "$file")/$link ]] || echo "$file:$line: $link"
done)
if [[ -z $broken ]]; then pass "links between documents"; else fail "links between documents" "$broken"; fi

# The map of the code names every file of it.
unmapped=$(find engine tui -name '*.[ch]' -o -name '*.def' | sort | while read -r file; do
	stem=${file%.*}
	grep -qF "**$stem**" docs/CODE-MAP.md || echo "$file"
done)
if [[ -z $unmapped ]]; then pass "CODE-MAP.md names every file"; else fail "CODE-MAP.md names every file" "$unmapped"; fi

pages=$(ls docs/man/*.[1-8] 2>/dev/null)
check "there are manual pages" test -n "$pages"
for page in $pages; do
	if command -v groff >/dev/null && [[ -d /usr/share/groff/current/tmac || -d /usr/share/groff/1.22.4/tmac ]]; then
		out=$(groff -mandoc -ww -Tutf8 -z "$page" 2>&1)
		if [[ -z $out ]]; then pass "groff: $page"; else fail "groff: $page" "$out"; fi
	else
		skip "groff: $page" "no groff"
	fi
done
done_testing
