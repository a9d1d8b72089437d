#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The explorer in a real terminal, which tmux is: what it shows, and that it leaves the
# terminal as it found it, whichever way it ends. A shell runs in a private tmux server;
# keys go in by send-keys, the screen comes out by capture-pane. Nothing sleeps for a
# guess: each wait polls for what must appear, and gives up after a deadline.
set -u
. tests/tap.sh
if ! command -v tmux >/dev/null; then
	skip "the explorer in a terminal" "no tmux"
	done_testing
fi

program=$(realpath "$FOLIOSCOPE")
dir=$(mktemp -d)
socket=folioscope-$$
trap 'tmux_ kill-server 2>/dev/null; rm -rf "$dir"' EXIT

tmux_() { env -u TMUX tmux -L "$socket" -f /dev/null "$@"; }
screen() { tmux_ capture-pane -p -t t; }
keys() { tmux_ send-keys -t t "$@"; }
pane() { tmux_ display-message -p -t t "#{$1}"; }
in_explorer() { [[ $(pane alternate_on) == 1 ]]; }
at_prompt() { [[ $(pane alternate_on) == 0 ]] && grep -q '^ready> *$' <(screen | grep . | tail -n 1); }
shows() { screen | grep -qE "$1"; }
step() { screen | sed -nE 's/.*step +([0-9]+)\/.*/\1/p' | head -n 1; }
step_is() { [[ $(step) == "$1" ]]; }
size_is() { [[ "$(pane pane_width)x$(pane pane_height)" == "$1" ]]; }
no_server() { ! tmux_ list-sessions 2>/dev/null; }
gone() { ! kill -0 "$1" 2>/dev/null; }

# until_ COMMAND...: poll until it holds; show the screen when it never does.
until_() {
	local deadline=$((SECONDS + 10))
	until "$@"; do
		if ((SECONDS > deadline)); then
			echo "never: $*"
			screen
			return 1
		fi
		sleep 0.05
	done
}

start_shell() {
	tmux_ kill-server 2>/dev/null
	until_ no_server || return
	rm -f "$dir"/*
	echo "PS1='ready> '; PS2=; ulimit -c 0; unset HISTFILE" >"$dir/rc"
	tmux_ new-session -d -s t -x 80 -y 24 bash --noprofile --rcfile "$dir/rc" -i
	until_ at_prompt
}

type_line() { keys -l "$1"; keys Enter; }

# A shell, its terminal settings on record, the explorer in front of it.
start() {
	start_shell || return
	type_line "clear; stty -g >$dir/before; sh -c 'echo \$\$ >$dir/pid; exec $program ${scenario:-swapout-64k} $*'; echo \$? >$dir/status; stty -g >$dir/after"
	until_ in_explorer && until_ shows 'step +[0-9]+/'
}

# It has ended with that status; the terminal is the shell's again, and as it was.
restored() {
	until_ test -s "$dir/after" || return
	until_ at_prompt || return
	diff "$dir/before" "$dir/after" || return
	[[ $(cat "$dir/status") == "$1" ]] || { echo "exit status $(cat "$dir/status"), expected $1"; return 1; }
	[[ $(pane cursor_flag) == 1 ]] || { echo "the cursor is hidden"; return 1; }
	[[ $(pane keypad_cursor_flag)$(pane mouse_any_flag) == 00 ]] || { echo "keypad or mouse modes are left on"; return 1; }
	type_line 'echo still''here'
	until_ shows '^stillhere$'
}

steps_and_back() {
	start && until_ step_is 0 && keys s s s && until_ step_is 3 && keys b && until_ step_is 2 &&
		keys Right && until_ step_is 3 && keys Left Left && until_ step_is 1
}
quits() { keys q && restored 0; }

shrinks_and_grows() {
	start --at 40 && until_ step_is 40 && tmux_ resize-window -t t -x 20 -y 8 && until_ size_is 20x8 &&
		keys s && tmux_ resize-window -t t -x 80 -y 24 && until_ size_is 80x24 && until_ step_is 41 &&
		tmux_ resize-window -t t -x 160 -y 50 && until_ size_is 160x50 && until_ step_is 41
}
quits_when_tiny() {
	start && tmux_ resize-window -t t -x 20 -y 8 && until_ size_is 20x8 && keys q && restored 0
}

suspends() {
	start --at 40 && until_ step_is 40 && keys C-z && until_ at_prompt && until_ shows 'Stopped' &&
		[[ $(stty_now) == "$(cat "$dir/before")" ]]
}
stty_now() {
	rm -f "$dir/stopped"
	type_line "stty -g >$dir/stopped; clear"
	until_ test -s "$dir/stopped" >&2 && cat "$dir/stopped"
}
resumes() { type_line fg && until_ in_explorer && until_ step_is 40 && keys s && until_ step_is 41; }
# The job came back by hand, so its status went to fg, not to the command line.
quits_after() {
	keys q && until_ at_prompt && [[ $(stty_now) == "$(cat "$dir/before")" ]] && [[ $(pane cursor_flag) == 1 ]]
}

# Ended by a signal, while it waits for a key.
signalled() {
	start --at 40 && until_ step_is 40 && kill "-$1" "$(cat "$dir/pid")" && until_ gone "$(cat "$dir/pid")"
}
# More keys than it can follow, each of them a search.
flood() { while keys "$(printf 'n%.0s' {1..1000})" 2>/dev/null; do :; done; }
signalled_in_flood() {
	local keys_pid ended
	scenario=swapout-256m start || return
	keys / u n f o l d Enter
	flood &
	keys_pid=$!
	until_ shows 'step +[1-9][0-9]{2,}/' && kill -TERM "$(cat "$dir/pid")" && until_ gone "$(cat "$dir/pid")"
	ended=$?
	kill "$keys_pid"
	wait "$keys_pid" 2>/dev/null
	return "$ended"
}
ended_by_term() {
	until_ test -s "$dir/after" && diff "$dir/before" "$dir/after" && [[ $(cat "$dir/status") == 143 ]]
}
crash_report() { [[ $(screen | grep -cE '^ +(\+0x[0-9a-f]+|[a-z_]+)') -ge 3 ]]; }

if ! check "a shell in tmux" start_shell; then done_testing; fi
check "step and back" steps_and_back
check "quit: terminal restored" quits
check "resize to 20x8 and back: the same moment" shrinks_and_grows
check "quit afterwards: terminal restored" quits
check "q works at 20x8: terminal restored" quits_when_tiny
check "suspend: the shell's terminal" suspends
check "resume: the same moment" resumes
check "quit after that: terminal restored" quits_after
check "SIGTERM" signalled TERM
check "after SIGTERM: terminal restored" restored 143
check "SIGHUP" signalled HUP
check "after SIGHUP: terminal restored" restored 129
check "SIGUSR1" signalled USR1
check "after SIGUSR1: terminal restored" restored 138
check "SIGTERM while keys pour in" signalled_in_flood
check "after that: terminal restored" ended_by_term
check "SIGTRAP" signalled TRAP
check "after SIGTRAP: terminal restored" restored 133
check "crash" signalled SEGV
check "after a crash: the stack on the shell's screen" until_ crash_report
check "after a crash: terminal restored" restored 139
done_testing
