#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the compiled objects say: what the engine's heart needs from outside, and what can change
# between two calls of a function.
set -u
. tests/tap.sh

heart=$(find "$O/engine/core" "$O/engine/arch" "$O/engine/mm" -name '*.o' | sort)
objects=$(find "$O/engine" "$O/tui" -name '*.o' | sort)
check "there are objects" test -n "$heart"

# shellcheck disable=SC2086
{
	defined=$(nm -P --defined-only $heart | awk 'NF > 1 { print $1 }' | sort -u)
	needs=$(nm -P -u $heart | awk 'NF > 1 && $2 == "U" { print $1 }' | sort -u)
}
check "symbols are found" grep -qx try_to_unmap_one <<<"$defined"
outside=$(comm -23 <(echo "$needs") <(echo "$defined") |
	grep -vE '^(mem[a-z]+|str(cmp|ncmp|len|chr)|abort|__assert_fail|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|__(mem|str)[a-z]+_chk)$' |
	grep -vE '^(__asan_|__ubsan_|__sanitizer_|__gcov|__llvm_)')
# Text is the product of pte_text() and its like; the way the library spells snprintf varies.
printers=$(for object in $heart; do
	nm -P -u "$object" | grep -qE '^(__)?v?snprintf(_chk)? ' && echo "${object#"$O"/}"
done | grep -v '^engine/arch/')
outside=$(grep -vE '^(__)?v?snprintf(_chk)?$' <<<"$outside")
if [[ -z $outside ]]; then
	pass "core, arch and mm need nothing but memory functions"
else
	fail "core, arch and mm need nothing but memory functions" "$outside"
fi
if [[ -z $printers ]]; then pass "only arch makes text"; else fail "only arch makes text" "$printers"; fi

# objdump, not nm: nm cannot tell .data from .data.rel.ro, which is constant.
mutable=$(for object in $objects; do
	case $object in
	"$O/tui/term.o" | "$O/engine/trace/callpath.o") continue ;;
	esac
	objdump -t "$object" | awk -v object="${object#"$O"/}" '
		/ O / && ($0 ~ / (\.data|\.bss|\.tdata|\.tbss|\*COM\*)[ \t]/ ||
			  $0 ~ / \.(data|bss)\.[^r]/) { print object ": " $NF }'
done | grep -v '__func__\|__PRETTY_FUNCTION__')
if [[ -z $mutable ]]; then pass "no mutable file-scope data"; else fail "no mutable file-scope data" "$mutable"; fi
done_testing
