#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Who may include whom, and the one file that each library is allowed in.
set -u
. tests/tap.sh

# From the folder on the left the headers of the folders on the right, and its own.
declare -A may=(
	[core]="core"
	[arch]="core arch"
	[mm]="core arch mm"
	[trace]="core arch mm trace"
	[scenario]="core arch mm trace scenario"
	[tui]="core arch mm trace scenario tui"
)

folder_of() {
	case $1 in
	engine/*) set -- "${1#engine/}"; echo "${1%%/*}" ;;
	*) echo tui ;;
	esac
}

# The folder of an include as it is written: "core/state.h"; "canvas.h" is one of tui's.
included_folder() {
	case $1 in
	core/* | arch/* | mm/* | trace/* | scenario/*) echo "${1%%/*}" ;;
	engine/*) folder_of "$1" ;;
	*) [[ -e $(dirname "$2")/$1 ]] && folder_of "$2" || echo tui ;;
	esac
}

edges=0 wrong=
while IFS=: read -r file line; do
	header=${line#*\"} header=${header%%\"*}
	from=$(folder_of "$file") to=$(included_folder "$header" "$file")
	edges=$((edges + 1))
	[[ " ${may[$from]} " == *" $to "* ]] || wrong+="$file: \"$header\""$'\n'
done < <(grep -rE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' engine tui --include='*.[ch]' --include='*.def')
if [[ -z $wrong ]]; then pass "each of $edges includes points downwards"; else fail "includes point downwards" "$wrong"; fi
check "there are includes to look at" test $edges -gt 50

only() {
	local header=$1 file=$2 found
	found=$(grep -rlE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]([a-z]*/)?${header}[>\"]" engine tui)
	if [[ $found == "$file" ]]; then pass "$header in $file alone"; else fail "$header in $file alone" "$found"; fi
}
only 'n?curses(w/curses)?\.h' tui/term.c
only libunwind.h engine/trace/callpath.c
only cJSON.h engine/scenario/load.c

for folder in core arch mm; do
	found=$(grep -rnE '#[[:space:]]*include[[:space:]]*<(stdlib|unistd|fcntl|sys/|locale|wchar)' "engine/$folder")
	[[ $folder == arch ]] || found+=$(grep -rnE '#[[:space:]]*include[[:space:]]*<stdio' "engine/$folder")
	if [[ -z $found ]]; then pass "$folder: no printing, no allocation"; else fail "$folder: no printing, no allocation" "$found"; fi
done

strays=$(git ls-files 2>/dev/null | grep / | cut -d/ -f1 | sort -u | grep -vxE 'tui|engine|scenarios|docs|tests|\..*')
strays+=$(git ls-files 2>/dev/null | grep -v / | grep -vxE 'Makefile|README\.md|COPYING|\..*')
if [[ -z $strays ]]; then pass "nothing else at the top"; else fail "at the top is more than belongs there" "$strays"; fi
done_testing
