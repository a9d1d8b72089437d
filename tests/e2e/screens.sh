#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the explorer puts on a real terminal is what `folioscope screen` prints: the same
# cells, whatever moved in between. Keys go into tmux, and the pane must become the text.
set -u
. tests/tap.sh
if ! command -v tmux >/dev/null; then
	skip "the explorer's screens" "no tmux"
	done_testing
fi

program=$(realpath "$FOLIOSCOPE")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

tmux_() { env -u TMUX tmux -S "$socket" -f /dev/null "$@"; }
pane_is() { tmux_ capture-pane -p -t t | sed 's/ *$//' | diff - "$1" >"$dir/diff"; }

# shows COLSxROWS SCREEN-ARGUMENTS KEYS...: the pane becomes what screen prints.
shows() {
	local size=$1 at=$2 deadline=$((SECONDS + 10)) socket=$dir/$BASHPID
	shift 2
	trap "tmux -S $socket kill-server" EXIT	# each check is a shell of its own, and a server
	"$program" screen $at --size "$size" >"$dir/expected" || return
	tmux_ new-session -d -s t -x "${size%x*}" -y "${size#*x}" \
		"env LC_ALL=C.UTF-8 NO_COLOR=$no_color TERM=$term $program swapout-64k" || return
	[[ $# -gt 0 ]] && tmux_ send-keys -t t "$@"
	until pane_is "$dir/expected"; do
		((SECONDS > deadline)) && { cat "$dir/diff"; return 1; }
		sleep 0.05
	done
}

no_color='' term=screen-256color
check "80x24 at the beginning" shows 80x24 "swapout-64k"
check "80x24 at step 150" shows 80x24 "swapout-64k --at 150" 150G
check "step by step and back" shows 80x24 "swapout-64k --at 3" s s s s b
check "160x48, four lanes" shows 160x48 "swapout-64k --at 150" 150G
check "a pane zoomed" shows 80x24 "swapout-64k --at 150 --view pte" 150Gz
check "30x6" shows 30x6 "swapout-64k --at 150" 150G
no_color=1
check "without colour" shows 80x24 "swapout-64k --at 150" 150G
no_color='' term=vt100
check "on a vt100" shows 80x24 "swapout-64k --at 150" 150G
done_testing
