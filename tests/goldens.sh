#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# goldens.sh [bless]: compare what folioscope prints with what it printed when somebody
# last looked and agreed; bless: take what it prints now.
#
#	tests/golden/SCENARIO.counts.txt       folioscope counts
#	tests/golden/SCENARIO.ARCH-PATH.txt    folioscope run, one lane (long ones in part)
#	tests/screens/NAME.txt                 tests/screens/list: NAME COMMAND...
#	README.md, docs/*.md                   between <!-- screen: folioscope ... --> and <!-- end -->
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

now=$O/tests/now
rm -rf "$now"
mkdir -p "$now/golden" "$now/screens" "$now/docs"

# Long traces: both ends, and a checksum of the whole.
shorten() {
	local lines
	lines=$(wc -l <"$1")
	((lines <= 800)) && return
	{
		head -n 200 "$1"
		echo "... $lines lines, cksum $(cksum <"$1")"
		tail -n 50 "$1"
	} >"$1.short"
	mv "$1.short" "$1"
}

# The lanes whose steps can be printed in no time; a whole benchmark's cannot.
lanes_of() {
	"$FOLIOSCOPE" counts "$1" --format json |
		sed -n 's/.*"name": "\([^"]*\)".*"steps": \([0-9]*\),.*/\1 \2/p' |
		awk '$2 <= 100000 { print $1 }'
}

write_goldens() {
	local scenario lane file
	for scenario in $("$FOLIOSCOPE" list | cut -f1); do
		"$FOLIOSCOPE" counts "$scenario" >"$now/golden/$scenario.counts.txt"
		for lane in $(lanes_of "$scenario"); do
			file=$now/golden/$scenario.${lane//\//-}.txt
			"$FOLIOSCOPE" run "$scenario" --lane "$lane" >"$file"
			shorten "$file"
		done
	done
}

# The list and the documents hold command lines as a shell would read them.
run_line() {
	eval "set -- $1"
	"$FOLIOSCOPE" "$@"
}

write_screens() {
	local name words
	while read -r name words; do
		[[ -z $name || $name == \#* ]] && continue
		run_line "$words" >"$now/screens/$name.txt" </dev/null
	done <tests/screens/list
}

# The document with its screens drawn anew.
write_document() {
	local line
	while IFS= read -r line; do
		printf '%s\n' "$line"
		[[ $line == '<!-- screen: folioscope '*' -->' ]] || continue
		line=${line#'<!-- screen: folioscope '}
		echo '```text'
		run_line "${line%' -->'}" </dev/null | sed 's/[[:space:]]*$//'
		echo '```'
		while IFS= read -r line && [[ $line != '<!-- end -->' ]]; do :; done
		echo '<!-- end -->'
	done <"$1" >"$now/docs/${1//\//-}"
}

documents() {
	grep -l '^<!-- screen: folioscope ' README.md docs/*.md docs/*/*.md 2>/dev/null
}

write_goldens
write_screens
for document in $(documents); do write_document "$document"; done

if [[ ${1-} == bless ]]; then
	rm -f tests/golden/*.txt tests/screens/*.txt
	mkdir -p tests/golden
	cp "$now"/golden/*.txt tests/golden/
	cp "$now"/screens/*.txt tests/screens/
	for document in $(documents); do
		[[ -s $now/docs/${document//\//-} ]] && cat "$now/docs/${document//\//-}" >"$document"
	done
	echo "Blessed $(find "$now" -type f | wc -l) files; git diff shows what changed."
	exit 0
fi

for dir in golden screens; do
	for file in $(find "tests/$dir" "$now/$dir" -name '*.txt' -printf '%f\n' | sort -u); do
		same "$dir/$file" "tests/$dir/$file" "$now/$dir/$file"
	done
done
for document in $(documents); do
	same "screens in $document" "$document" "$now/docs/${document//\//-}"
done
check "the README shows a screen" grep -q '^<!-- screen: folioscope screen ' README.md
done_testing
