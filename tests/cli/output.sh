#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What commands print: shapes that others read, pipes, standard input, colour, no terminal.
set -u
. tests/tap.sh

dir=$O/tests/cli-output
rm -rf "$dir"
mkdir -p "$dir"
esc=$(printf '\033')

f() {
	"$FOLIOSCOPE" "$@" </dev/null
}

# every LINES_MATCH FILE: no line of it is different
every() {
	local odd
	odd=$(grep -vE "$2" "$3")
	if [[ -s $3 && -z $odd ]]; then pass "$1"; else fail "$1" "$odd"; fi
}

f list >"$dir/list"
every "list: id, level and title with tabs between" $'^[a-z0-9-]+\t(intro|core|deep)\t[^\t]+$' "$dir/list"
check "list is sorted" sort -c "$dir/list"
basename -as .json scenarios/*.json | LC_ALL=C sort >"$dir/files"
cut -f1 "$dir/list" | LC_ALL=C sort >"$dir/ids"
same "list has every bundled scenario" "$dir/files" "$dir/ids"

# run
f run unmap-64k >"$dir/run"
every "run: lane, step, function, sentence" '^(arm64|x86_64)/(un)?batched +[0-9]+ [a-z_]+ +[[:print:]]+[.?]$' "$dir/run"
f counts unmap-64k --format json | grep -o '"steps": [0-9]*' | grep -o '[0-9]*' >"$dir/steps"
for lane in arm64/unbatched arm64/batched x86_64/unbatched x86_64/batched; do grep -c "^$lane " "$dir/run"; done >"$dir/lines"
same "run prints as many steps as counts counts" "$dir/steps" "$dir/lines"
f run unmap-64k --lane arm64/batched >"$dir/one"
grep '^arm64/batched ' "$dir/run" | sed 's/  */ /g' >"$dir/want"
sed 's/  */ /g' "$dir/one" >"$dir/got"
same "--lane picks one of them" "$dir/want" "$dir/got"
f run unmap-64k --lanes 'x86_64/*' | cut -d' ' -f1 | uniq >"$dir/lanes"
printf 'x86_64/unbatched\nx86_64/batched\n' >"$dir/want"
same "--lanes runs two" "$dir/want" "$dir/lanes"

# calls
f run swapout-64k --lane arm64/unbatched --format calls >"$dir/calls"
every "calls: callee <-caller" '^[a-z_]+ <-[a-z_]+$' "$dir/calls"
check "the script calls first" grep -qx 'madvise_pageout <-script' <(head -n 1 "$dir/calls")
check "16 pages are marked dirty one by one" test "$(grep -c '^folio_mark_dirty <-try_to_unmap_one$' "$dir/calls")" -eq 16

# counts
f counts unmap-64k >"$dir/counts"
check "counts: a row a counter, ratios beside" grep -Eq '^pte_read +99 +23 +4\.30x +63 +18 +3\.50x$' "$dir/counts"
check "counts: what became nothing" grep -Eq '^contpte_unfold +1 +0 +gone +0 +0$' "$dir/counts"
check "counts: what is the same" grep -Eq '^mapcount_op +16 +16 += +16 +16 +=$' "$dir/counts"
check "counts: no row of zeroes" test "$(grep -c '^invlpgb' "$dir/counts")" -eq 0
check "counts: proposed lanes say so" grep -q 'proposed' "$dir/counts"
every "counts: no blank at the end of a line" '^$|[^ ]$' "$dir/counts"
f counts unmap-2m-ptes --lanes arm64/unbatched >"$dir/large"
check "counts: large numbers are readable" grep -Eq '^steps +[0-9]{1,3},[0-9]{3}$' "$dir/large"
check "counts: one lane has no ratio" test "$(grep -c ratio "$dir/large")" -eq 0
f counts swapout-64k --under try_to_unmap_one --lanes arm64/unbatched >"$dir/under"
check "--under: what unmapping reads is in it" grep -Eq '^pte_read +99$' "$dir/under"
check "--under: what madvise does is not" test "$(grep -c '^folio_freed' "$dir/under")" -eq 0
f counts unmap-64k --lanes arm64/unbatched --feature tlbi_range=off >"$dir/feature"
check "--feature: no range TLBI where there is none" test "$(grep -c '^tlbi_range' "$dir/feature")" -eq 0

# state
f state unmap-64k --at arm64/unbatched:0 >"$dir/state"
check "state: the folio's references add up" grep -qF 'refcount 33 = 16 maps + 16 swap cache + 1 isolated' "$dir/state"
check "state: one line for a run of entries" grep -Eq '^ +0x7f[0-9a-f]+ +16  0x00f8[0-9a-f]+  pfn ' "$dir/state"
check "state: nothing has changed yet" test "$(grep -c '^\*' "$dir/state")" -eq 0
nr=$(grep -m 1 'now holds a swap entry' "$dir/run" | awk '{ print $2 }')
f state unmap-64k --at "$nr" >"$dir/state"
check "state: the entry that changed is marked" grep -Eq '^\*   0x7f[0-9a-f]+ +1  0x[0-9a-f]+  swap 0:' "$dir/state"

# screen, pte
f screen unmap-64k --at 0 --size 90x30 >"$dir/screen"
check "screen: as many rows as asked for" test "$(wc -l <"$dir/screen")" -eq 30
check "screen: no wider than asked for" test "$(LC_ALL=C.UTF-8 wc -L <"$dir/screen")" -le 90
f screen unmap-64k --at 0 --size 90x30 --ascii >"$dir/screen"
check "screen: --ascii is ASCII" test "$(LC_ALL=C grep -c '[^ -~]' "$dir/screen")" -eq 0
check "pte: what an entry means" grep -q 'pfn 0x434c0' <(f pte arm64 0x00e80000434c0f43)
check "pte: one level up" grep -q 'invalid huge pfn 0x12400' <(f pte --level pmd arm64 0x00e8000012400f40)
check "pte: the way back" grep -q '0x00e80000434c0f43' <(f pte --encode arm64 pfn=0x434c0)

# diff
f diff swapout-pinned arm64/unbatched arm64/batched >"$dir/diff"
check "diff: how far both do the same" grep -Eq '^The first [0-9]+ steps are the same\. They part in phase unmap, page 0 of A:$' "$dir/diff"
check "diff: the step of each" test "$(grep -Ec '^arm64/(un)?batched( \(proposed\))? step [0-9]+, [a-z_]+$' "$dir/diff")" -eq 2
check "diff: what differs at the end" grep -Eq '^  folio A\.refcount +28 +33$' "$dir/diff"
check "diff: entries in words" grep -Eq '^      arm64/batched    0x00f8000012340f43  pfn 0x12340 RW young dirty cont$' "$dir/diff"
check "diff: generations are named as such" grep -Eq '^  mm app\.tlb_pending +6 +1  counts flushes$' "$dir/diff"
check "diff: counts" grep -Eq '^  walk_step +6 +1 +6x$' "$dir/diff"
check "diff: fits into a mail" test "$(grep -v '^    folioscope ' "$dir/diff" | wc -L)" -le 78
every "diff: no blank at the end of a line" '^$|[^ ]$' "$dir/diff"
folioscope() { "$FOLIOSCOPE" state "$@"; }
step=$(grep -m 1 -A 1 '^arm64/batched' "$dir/diff" | tail -n 1 | sed 's/^ *//')
check "diff: its command opens the step" grep -qF "$step" <(eval "$(grep -m 1 -- '--at arm64/batched:' "$dir/diff")")
unset -f folioscope
f diff swapout-64k arm64/batched x86_64/batched >"$dir/diff"
check "diff: two architectures are compared by meaning" grep -q '^At the end both machines are the same' "$dir/diff"
check "diff: colour when told" grep -q "$esc" <(f diff swapout-64k arm64/batched x86_64/batched --color=always)
f diff swapout-64k arm64/batched x86_64/batched --color=always | sed "s/$esc\[[0-9;]*m//g" >"$dir/got"
same "diff: which changes nothing else" "$dir/diff" "$dir/got"

# check
f check swapout-64k >"$dir/check"
every "check: ok, name, how many" '^ok swapout-64k \([1-9][0-9]* expectations\)$' "$dir/check"

# standard input, files
"$FOLIOSCOPE" counts - <scenarios/unmap-64k.json >"$dir/stdin"
tail -n +2 "$dir/counts" >"$dir/want"
tail -n +2 "$dir/stdin" >"$dir/got"
same "a scenario from standard input counts the same" "$dir/want" "$dir/got"
f counts scenarios/unmap-64k.json >"$dir/file"
same "and from its file" "$dir/counts" "$dir/file"

# no terminal
f >"$dir/out"
same "nothing and no terminal: list" "$dir/list" "$dir/out"
f unmap-64k >"$dir/out"
same "a scenario and no terminal: run" "$dir/run" "$dir/out"

# colour
check "no colour into a file" test "$(grep -c "$esc" "$dir/run")" -eq 0
check "colour when told" grep -q "$esc" <(f run unmap-64k --lane arm64/batched --color=always)
check "the option wins over NO_COLOR" grep -q "$esc" <(NO_COLOR=1 f run unmap-64k --lane arm64/batched --color=always)
check "an empty NO_COLOR is none" grep -q "$esc" <(NO_COLOR='' f run unmap-64k --lane arm64/batched --color=always)
f run unmap-64k --lane arm64/batched --color=always | sed "s/$esc\[[0-9;]*m//g" >"$dir/got"
same "colour changes nothing else" "$dir/one" "$dir/got"

# the same whatever the locale
LC_ALL=C f run unmap-64k >"$dir/got"
same "run in the C locale" "$dir/run" "$dir/got"
check "data is the same each time" cmp "$dir/run" <(f run unmap-64k)
done_testing
