#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Exit statuses and messages: 0 ok, 1 not as expected or limited, 2 usage or bad scenario, 3 internal.
set -u
. tests/tap.sh

dir=$O/tests/cli-status
rm -rf "$dir"
mkdir -p "$dir"

# ends STATUS command args...: that status; data only with 0 and 1; with 2 one line on stderr.
ends() {
	local want=$1 status lines
	shift
	"$FOLIOSCOPE" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	lines=$(wc -l <"$dir/err")
	if [[ $status -ne $want ]]; then
		fail "$* ends with $want" "status $status"$'\n'"$(cat "$dir/err")"
	elif [[ $want -eq 0 && -s $dir/err ]]; then
		fail "$* says nothing" "$(cat "$dir/err")"
	elif [[ $want -eq 2 && ($lines -ne 1 || -s $dir/out) ]]; then
		fail "$* prints one line on stderr and no data" "$(cat "$dir/err" "$dir/out")"
	elif [[ $want -eq 2 ]] && ! grep -qE '^(folioscope: |[^ :]+:[0-9]+:)' "$dir/err"; then
		fail "$* says who speaks, or where" "$(cat "$dir/err")"
	else
		pass "$* ends with $want"
	fi
}

# says TEXT: in the message of the last command
says() {
	check "  and says $1" grep -qF -- "$1" "$dir/err"
}

ends 0 --help
ends 0 -h
ends 0 --version
ends 0 -V
for command in list run counts state check diff screen pte; do
	ends 0 "$command" --help
	check "  with its usage" grep -q "folioscope $command" "$dir/out"
done
ends 0 list
ends 0 counts unmap-64k
ends 0 counts unmap-64k --format text
ends 0 --format json counts unmap-64k
ends 0 counts --form json unmap-64k
ends 0 counts -- unmap-64k
ends 0 run unmap-64k --lane 'arm64/*'
ends 0 state unmap-64k --at 0
ends 0 state unmap-64k --at end
ends 0 state unmap-64k --at x86_64/batched:end
ends 0 check swapout-4k unmap-64k
ends 1 diff unmap-64k arm64/unbatched arm64/batched
ends 1 diff unmap-64k 'arm64/b*' x86_64/batched --format json --feature bbml3=on
ends 0 counts ./scenarios/unmap-64k.json
ends 0 pte arm64 0x00e80000434c0f43 0
ends 0 pte --encode x86_64 pfn=0x12345 --format json
ends 0 screen unmap-64k --at 0 --size 80x24
ends 0 screen unmap-64k --at end --size 120x40 --view pte --format ansi

# usage
ends 2 cuonts unmap-64k
says 'did you mean "counts"?'
ends 2 lst
says 'did you mean "list"?'
ends 2 help
says 'did you mean --help?'
ends 2 version counts
says 'did you mean --version?'
"$FOLIOSCOPE" - --at end <scenarios/unmap-64k.json >"$dir/out"
check "without a terminal a scenario is read once, from a pipe too" test $? -eq 0
"$FOLIOSCOPE" run unmap-64k >"$dir/run" </dev/null
check "  and its steps are printed" cmp -s "$dir/run" "$dir/out"
ends 2 unmap-64k --view pt
says 'did you mean "pte"?'
ends 2 unmap-64k --at arm64/batched:999999
says 'moment "arm64/batched:999999": expected a step from 0 to '
ends 2 counts
says 'usage: folioscope counts SCENARIO'
ends 2 counts unmap-64k unmap-64k-old
ends 2 list unmap-64k
ends 2 --frmat json counts unmap-64k
says 'did you mean --format?'
ends 2 counts -x unmap-64k
says '-x'
ends 2 counts unmap-64k --at 3
says 'counts takes no --at; it is for state, screen'
ends 2 counts unmap-64k --format
says '--format needs a value'
ends 2 counts unmap-64k --ascii=no
says '--ascii takes no value'
ends 2 counts unmap-64k --format jsn
says 'did you mean "json"?'
ends 2 counts unmap-64k --format calls
says 'text or json'
ends 2 counts unmap-64k --color=sometimes
says 'auto, always or never'
ends 2 screen unmap-64k --at 0 --size 80
says '80x24'
ends 2 screen unmap-64k --at 0 --size 80x24x3
ends 2 screen unmap-64k --at 0 --size 0x0
ends 2 state unmap-64k
says '--at'
ends 2 run unmap-64k --format calls
says '--lane'
ends 2 run unmap-64k --lane arm64/bathed
says 'did you mean "arm64/batched"?'
ends 2 counts unmap-64k --under try_to_unmap_on
says 'did you mean "try_to_unmap_one"?'
ends 2 counts unmap-64k --under pte_read

ends 2 diff unmap-64k arm64/batched
says 'usage: folioscope diff SCENARIO LANE LANE'
ends 2 diff unmap-64k arm64/batched arm64/unbatchd
says 'did you mean "arm64/unbatched"?'
ends 2 diff unmap-64k arm64/batched arm64/batched
says '"arm64/batched" and "arm64/batched" are one'
ends 2 diff unmap-64k arm64/batched 'x86_64/*'
says 'fit more'
ends 2 diff unmap-64k arm64/batched ''
ends 2 diff unmap-64k arm64/batched x86_64/batched --lanes 'x86_64/*'
says 'diff takes no --lanes'
ends 2 diff unmap-64k arm64/batched x86_64/batched --format jsonl
says 'text or json'

ends 0 pte --level pmd x86_64 0x80000000124008e7
ends 2 pte --level pud x86_64 0x1
ends 2 pte arm65 0x1
says 'did you mean "arm64"?'
ends 2 pte arm64 0x12g
ends 2 pte arm64 0x11112222333344445
ends 2 pte sparc 0x1
says 'expected one of arm64, x86_64'
ends 2 pte arm64 0x1 --kernel 9.9
says 'expected one of 7.3, 7.3-rc7, 7.3+anon-batch, 7.3+flush-batch-v2, 7.3+anon-batch+flush-batch-v2, 7.3+flush-batch-31, 6.16, 6.14, 6.12, 6.11, 6.1'
ends 0 pte arm64 0x1 --kernel 6.12
ends 2 pte --encode arm64 colour=red
ends 2 screen unmap-64k --at 0 --size 80x24 --view pt
says 'did you mean "pte"?'

# scenario, lanes, features, moments
ends 2 counts unmap-64
says 'did you mean "unmap-64k"?'
ends 2 counts ./none.json
says 'none.json'
ends 2 counts unmap-64k --lanes arm64/batchd
says 'did you mean "arm64/batched"?'
ends 2 counts unmap-64k --feature tlbi_rang=off
says 'did you mean "tlbi_range"?'
ends 2 counts unmap-64k --feature tlbi_range=maybe
ends 2 state unmap-64k --at 999999
ends 2 state unmap-64k --at arm64/none:1
ends 2 state unmap-64k --at -1
echo '{' >"$dir/broken.json"
ends 2 counts "$dir/broken.json"
says "$dir/broken.json:"
for bad in tests/bad/cpus-zero.json tests/bad/lane-kernel-unknown.json; do
	ends 2 check "$bad"
	says "$bad:"
done
"$FOLIOSCOPE" check "$dir/broken.json" swapout-4k >"$dir/out" 2>"$dir/err" </dev/null
check "check goes on behind a scenario that is none, and ends with 2" test $? -eq 2
check "  having judged the other" grep -q '^ok swapout-4k' "$dir/out"

# What does not hold, and what is too long.
sed 's/"that": "refcount(A) == 0 && mapcount(A) == 0"/"that": "refcount(A) == 7"/' \
	scenarios/swapout-64k.json >"$dir/wrong.json"
ends 1 check "$dir/wrong.json"
check "a failed expectation is told with its value" grep -q 'refcount(A) is 0' "$dir/out"
check "and with the command that opens the moment" grep -qF -- "folioscope $dir/wrong.json --at " "$dir/out"
cp "$dir/wrong.json" "$dir/it's wrong.json"
ends 1 check "$dir/it's wrong.json" --lanes '*/unbatched' --feature bbml3=on
folioscope() { "$FOLIOSCOPE" state "$@"; }
command=$(grep -o 'folioscope .*' "$dir/out" | head -n 1)
check "which a shell takes, with all that was asked for" eval "$command >\"\$dir/state\""
check "  and opens that run" grep -q unbatched "$dir/state"
# What a terminal would obey, in names too.
sane() {
	check "  and nothing that a terminal obeys" test -z "$(LC_ALL=C tr -d '\n -~' <"$dir/err")$(
		LC_ALL=C tr -d '\n -~' <"$dir/out")"
}
odd=$dir/$'a\e[31m\nb\xc2\x9bc'
cp "$dir/wrong.json" "$odd.json"
ends 1 check "$odd.json"
sane
check "a name with control characters is on one line" grep -q '^failed a?\[31m?b??c$' "$dir/out"
command=$(grep -o 'folioscope .*' "$dir/out" | head -n 1)
folioscope() { [[ $1 == "$odd.json" ]]; }
check "  and a shell takes it back" eval "$command"
cp "$dir/broken.json" "$odd.json"
ends 2 check "$odd.json"
sane
check "  and the place comes first" grep -q "^$dir/a?\[31m?b??c.json:2:1: " "$dir/err"
ends 2 check "$odd-none.json"
sane
check "  and the name comes once" grep -q "^folioscope: $dir/a?\[31m?b??c-none.json: cannot be opened" "$dir/err"
ends 2 "--$odd"
sane
ends 2 check "$(printf '%5000s' '' | tr ' ' d)/x.json"
says 'File name too long'

ends 1 check unmap-64k "$dir/wrong.json" swapout-4k
check "the scenarios around it are judged too" grep -q '^ok swapout-4k' "$dir/out"
sed 's/"script": \[/"limits": {"steps": 1}, "script": [/' scenarios/unmap-64k.json >"$dir/long.json"
for command in run counts 'state --at 0'; do
	# shellcheck disable=SC2086
	ends 1 $command "$dir/long.json"
	says 'limit of 1 steps'
done

ends 1 diff "$dir/long.json" arm64/unbatched arm64/batched
says 'limit of 1 steps'
cat >"$dir/twice.json" <<'END'
{"$schema": "scenario-1.json", "title": "Two lanes of one kind", "machine": {"swap": [{"id": "zram0"}]},
 "lanes": [{"arch": "arm64", "path": "a", "kernel": "7.3"}, {"arch": "arm64", "path": "b", "kernel": "7.3"}],
 "world": {"mms": [{"id": "app"}], "folios": [{"id": "A"}], "maps": [{"mm": "app", "va": "0x10000", "folio": "A"}]},
 "script": [{"do": "madvise_pageout", "mm": "app", "va": "0x10000", "pages": 1}]}
END
ends 0 diff "$dir/twice.json" arm64/a arm64/b

# Output that cannot be written.
if [[ -w /dev/full ]]; then
	for command in list --help 'run swapout-64k' 'counts unmap-64k' 'state unmap-64k --at 0 --format json' \
		'diff unmap-64k arm64/unbatched arm64/batched'; do
		# shellcheck disable=SC2086
		"$FOLIOSCOPE" $command >/dev/full 2>"$dir/err" </dev/null
		status=$?
		check "$command to a full device ends with 3" test $status -eq 3
		says 'cannot write'
	done
else
	skip "a full device" "no /dev/full"
fi

# A reader that goes away.
"$FOLIOSCOPE" run swapout-64k 2>"$dir/err" </dev/null | head -n 1 >/dev/null
check "a closed pipe is no error worth a word" test ! -s "$dir/err"
(trap '' PIPE; "$FOLIOSCOPE" run unmap-2m-ptes </dev/null 2>"$dir/err"; echo $? >"$dir/status") | head -n 1 >/dev/null
check "also where SIGPIPE was ignored" test "$(cat "$dir/status")" -eq 141
done_testing
