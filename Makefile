# SPDX-License-Identifier: GPL-2.0-only
#
#   make run      build it and open the explorer on its first lesson
#   make check    every test; the last line is "N passed, N failed"
#   make help     the other targets
#
# CC OBJCOPY CFLAGS CPPFLAGS LDFLAGS LDLIBS and the directories are the user's. Flags that the
# program cannot do without come after them.

CC ?= cc
PKG_CONFIG ?= pkg-config
INSTALL ?= install
OBJCOPY ?= objcopy
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
DATADIR ?= $(PREFIX)/share
WERROR ?=
FUZZ_SECONDS ?= 60

# VARIANT=NAME builds in build/NAME.
VARIANT ?=
O ?= build$(addprefix /,$(VARIANT))
variants := asan ubsan lto O0 clang
ifneq ($(filter-out $(variants),$(VARIANT)),)
$(error VARIANT=$(VARIANT): expected one of $(variants))
endif

flags_asan := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
flags_ubsan := -fsanitize=undefined -fno-sanitize-recover=all
# Quicker, so that more is tried: a pointer that is wrong is one that AddressSanitizer sees.
flags_fuzz := $(flags_asan) -fno-sanitize=null,alignment,pointer-overflow
flags_lto := -O3 -flto=auto
flags_O0 := -O0
cc_clang := clang
ifneq ($(cc_$(VARIANT)),)
CC := $(cc_$(VARIANT))
endif
CFLAGS ?= -O2 -g

# What must be installed, as Debian calls it.
build_packages := build-essential pkg-config libncurses-dev libunwind-dev libcjson-dev
check_packages := libcmocka-dev libvterm-dev tmux xz-utils
fuzz_packages := clang libclang-rt-dev
memcheck_packages := valgrind

# Sources

engine_c := $(sort $(wildcard engine/*/*.c engine/arch/*/*.c))
tui_c := $(sort $(wildcard tui/*.c tui/panes/*.c))
unit_c := $(sort $(wildcard tests/unit/*_test.c))
unit_help_c := $(filter-out $(unit_c),$(sort $(wildcard tests/unit/*.c)))
fuzz_c := $(sort $(wildcard tests/fuzz/*_fuzz.c))
fuzz_help_c := $(filter-out $(fuzz_c),$(sort $(wildcard tests/fuzz/*.c)))
scenarios := $(patsubst %,scenarios/%.json,$(sort $(basename $(notdir $(wildcard scenarios/*.json)))))
headers := $(sort $(wildcard engine/*/*.[dh]* engine/arch/*/*.h tui/*.[dh]* tui/panes/*.[dh]*))

# What runs operations is compiled once more, for lanes that are only counted (core/types.h).
unwatched_c := $(filter-out engine/mm/check.c,$(filter engine/core/% engine/arch/% engine/mm/% engine/scenario/ops%,$(engine_c)))
unwatched_o := $(unwatched_c:%.c=$(O)/unwatched/%.o)
engine_o := $(engine_c:%.c=$(O)/%.o) $(O)/unwatched.o $(O)/bundled.o
tui_o := $(tui_c:%.c=$(O)/%.o)
main_o := $(O)/tui/main.o
unit := $(unit_c:%.c=$(O)/%)
unit_help_o := $(unit_help_c:%.c=$(O)/%.o)
unit_help := $(if $(unit_help_o),$(O)/tests/unit/libhelp.a)
fuzz_help_o := $(fuzz_help_c:%.c=$(O)/%.o)
fuzz_help := $(O)/tests/fuzz/libcase.a
lib := $(O)/libfolioscope.a
program := $(O)/folioscope

# Flags. Found out when first needed, so that `make deps` works on a machine with no compiler.

comma := ,
lazy = $(eval $(1) := $$(shell $(2)))$($(1))
require = $(if $(shell $(PKG_CONFIG) --exists $(1) 2>/dev/null && echo yes),,\
	$(error $(1) is missing: `make deps` installs what Debian has, elsewhere it names it))
is_gcc = $(call lazy,is_gcc,$(CC) -dM -E -x c /dev/null | grep -q __clang__ || echo yes)
curses_cflags = $(call lazy,curses_cflags,$(PKG_CONFIG) --cflags-only-I ncursesw)
unwind_cflags = $(call lazy,unwind_cflags,$(PKG_CONFIG) --cflags libunwind)
cjson_cflags = $(call lazy,cjson_cflags,$(PKG_CONFIG) --cflags libcjson)
check_cflags = $(call lazy,check_cflags,$(PKG_CONFIG) --cflags cmocka vterm)
libs = $(call lazy,libs,$(PKG_CONFIG) --libs ncursesw libunwind libcjson)
check_libs = $(call lazy,check_libs,$(PKG_CONFIG) --libs cmocka vterm)

includes := -I. -Iengine -Itui -D_DEFAULT_SOURCE -D_XOPEN_SOURCE=700
warnings := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual \
	-Wwrite-strings -Wundef -Wvla -Wpointer-arith -Wformat=2
$(O)/engine/%.o: warnings += -Wconversion

# A call path is read off the real stack: every mirrored function needs a frame of its own
# there, entered by a call. The state is one block that is read as several types.
needed = -std=c11 -fno-optimize-sibling-calls -fno-strict-aliasing -fasynchronous-unwind-tables \
	$(if $(is_gcc),-fno-partial-inlining -fno-reorder-blocks-and-partition) $(flags_$(VARIANT))

compile = $(CC) $(CPPFLAGS) $(includes) $(file_cflags) $(CFLAGS) $(warnings) $(needed) \
	$(coverage) $(WERROR) \
	-MMD -MP -c -o $@ $<
archive = rm -f $@ && $(if $(filter lto,$(VARIANT)),gcc-ar,$(AR)) rcs $@ $^
link = $(CC) $(CFLAGS) $(needed) $(LDFLAGS) $(wrap) -o $@
quiet = @printf '  %-5s %s\n' $(1) $@;

# Build

all: $(program)

# Before the first compile: a missing library is said in one line.
$(O)/found: Makefile
	@$(call require,ncursesw)$(call require,libunwind)$(call require,libcjson)mkdir -p $(@D) && touch $@

$(O)/found-check: Makefile
	@$(call require,cmocka)$(call require,vterm)mkdir -p $(@D) && touch $@

$(engine_o) $(tui_o): | $(O)/found
$(unit:=.o) $(unit_help_o): | $(O)/found-check

$(program): $(engine_o) $(tui_o)
	$(call quiet,LINK) $(link) $^ $(libs) $(LDLIBS)

# What tests link with.
lib: $(lib)
$(lib): $(engine_o) $(filter-out $(main_o),$(tui_o))
	$(call quiet,AR) $(archive)

$(O)/tui/term.o: file_cflags = $(curses_cflags)
$(O)/engine/trace/callpath.o: file_cflags = $(unwind_cflags)
$(O)/engine/scenario/load.o: file_cflags = $(cjson_cflags)
$(O)/tests/%.o: file_cflags = -Itests $(check_cflags) $(cjson_cflags)
# cmocka's and libFuzzer's entry points have no prototype to match.
$(O)/tests/%.o: warnings += -Wno-missing-prototypes

$(O)/%.o: %.c Makefile
	$(call quiet,CC) mkdir -p $(@D) && $(compile)

$(O)/unwatched/%.o: CFLAGS := $(CFLAGS:-O2=-O3)
$(O)/unwatched/%.o: file_cflags = -DUNWATCHED -Dop_infos=unwatched_op_infos -Darch_find=unwatched_arch_find
$(O)/unwatched/%.o: %.c Makefile
	$(call quiet,CC) mkdir -p $(@D) && $(compile) -fno-lto

# All but the entries is the twin's own.
$(O)/unwatched.o: $(unwatched_o)
	$(call quiet,LD) $(CC) $(CFLAGS) -fno-lto -nostdlib -r -o $@.tmp $^ && \
		$(OBJCOPY) -G unwatched_op_infos -G unwatched_arch_find $@.tmp $@ && rm $@.tmp

$(O)/bundled.c: scenarios/embed.sh scenarios $(scenarios)
	$(call quiet,GEN) mkdir -p $(@D) && sh scenarios/embed.sh $(scenarios) >$@.tmp && mv $@.tmp $@

$(O)/bundled.o: $(O)/bundled.c
	$(call quiet,CC) $(compile)

# What several tests share: sources in tests/unit that are no tests.
$(unit_help): $(unit_help_o)
	$(call quiet,AR) $(archive)

# Random cases: for the fuzzer, and for the test that is one without.
$(fuzz_help): $(fuzz_help_o)
	$(call quiet,AR) $(archive)

$(unit): %: %.o $(unit_help) $(fuzz_help) $(lib)
	$(call quiet,LINK) $(link) $^ $(check_libs) $(libs) $(LDLIBS)

# This one takes the program's memory away.
$(O)/tests/unit/memory_test: wrap = $(patsubst %,-Wl$(comma)--wrap=%,malloc calloc realloc free strdup open_memstream)

# This one has it taken away by what is loaded first.
$(O)/tests/unit/terminal_test: | $(O)/tests/preload/failing.so
$(O)/tests/preload/failing.so: tests/preload/failing.c
	$(call quiet,LINK) mkdir -p $(@D) && $(CC) $(CFLAGS) $(warnings) -shared -fPIC -o $@ $<

$(O)/tests/bench/bench: $(O)/tests/bench/bench.o $(lib)
	$(call quiet,LINK) $(link) $^ $(libs) $(LDLIBS)

# Run

run:
	@.ci/deps $(build_packages)
	@$(MAKE) --no-print-directory all
	@exec $(program) swapout-64k

bench: all $(O)/tests/bench/bench
	@$(O)/tests/bench/bench $(program)

# Check

suites := $(sort $(wildcard tests/lint/*.sh tests/cli/*.sh tests/e2e/*.sh)) tests/goldens.sh
lint_env = O=$(O) FOLIOSCOPE=$(program)

check:
	@.ci/deps $(build_packages) $(check_packages)
	@$(MAKE) --no-print-directory check-only

# Without looking for packages first.
check-only: all $(unit)
	@$(lint_env) tests/run.sh $(unit) $(suites)

# Unit tests only; check-asan, check-lto ...: the same of a variant.
check-unit: all $(unit)
	$(if $(filter lto,$(VARIANT)),@strip $(program) $(unit))
	@$(lint_env) tests/run.sh $(unit)

$(variants:%=check-%): check-%:
	@$(MAKE) --no-print-directory VARIANT=$* O=$(O)/$* check-unit

# What takes minutes and finds misuse of memory.
check-extra:
	@.ci/deps $(build_packages) $(check_packages) $(memcheck_packages) $(fuzz_packages)
	@tests/extra.sh "$(MAKE) --no-print-directory"

# Each allocation fails once.
check-memory: all $(O)/tests/unit/terminal_test
	@$(MAKE) --no-print-directory VARIANT=asan O=$(O)/asan $(O)/asan/tests/unit/memory_test
	@$(lint_env) MEMORY_EVERY=1 SUITE_SECONDS=900 tests/run.sh $(O)/asan/tests/unit/memory_test \
		$(O)/tests/unit/terminal_test

memchecked := $(patsubst %,$(O)/tests/unit/%_test,window memory scenario app trace callpath)
check-valgrind: all $(memchecked)
	@.ci/deps $(memcheck_packages)
	@$(lint_env) UNDER=tests/memcheck/under.sh SUITE_SECONDS=900 tests/run.sh $(memchecked) \
		tests/memcheck/program.sh

lint: all
	@$(lint_env) tests/run.sh $(sort $(wildcard tests/lint/*.sh))

# Take what the program prints now as what it should print; look at the diff before you commit it.
bless: all
	@$(lint_env) tests/goldens.sh bless

fuzz:
	@.ci/deps $(build_packages) $(fuzz_packages)
	@$(MAKE) --no-print-directory CC=clang O=$(O)/fuzz fuzz-only

fuzz-only: needed += $(flags_fuzz)
fuzz-only: covered = -fsanitize=fuzzer-no-link
# What is compared with what is of interest where text is read; behind it the way taken is. What
# looks at every word of the state after every step is not what a fuzzer is to explore.
coverage = $(covered)
$(O)/engine/core/%.o $(O)/engine/arch/%.o $(O)/engine/mm/%.o $(O)/engine/trace/%.o: \
	coverage = $(if $(covered),$(covered) -fno-sanitize-coverage=trace-cmp$(comma)indirect-calls)
$(O)/engine/core/state.o $(O)/engine/mm/check.o $(O)/engine/arch/pgtable.o $(O)/engine/arch/arm64/pgtable.o \
$(O)/engine/arch/x86/pgtable.o $(fuzz_help_o) $(unwatched_o): coverage =
fuzz-only: $(fuzz_c:%.c=$(O)/%)
	@$(lint_env) SUITE_SECONDS=$$(($(FUZZ_SECONDS) + 120)) FUZZ_SECONDS=$(FUZZ_SECONDS) tests/run.sh $^

$(fuzz_c:%.c=$(O)/%): %: %.o $(fuzz_help) $(lib)
	$(call quiet,LINK) $(link) -fsanitize=fuzzer $^ $(libs) $(LDLIBS)

dev:
	@$(MAKE) --no-print-directory WERROR=-Werror all $(unit)
	@if command -v bear >/dev/null; then \
		bear -- $(MAKE) --no-print-directory -B O=$(O)/dev all >/dev/null; fi

# Install

man_pages := $(sort $(wildcard docs/man/*.[1-8]))
to = $(DESTDIR)$(1)

install: all
	$(INSTALL) -d $(call to,$(BINDIR)) $(call to,$(DATADIR))/folioscope/scenarios/schema
	$(INSTALL) -m 755 $(program) $(call to,$(BINDIR))/folioscope
	$(INSTALL) -m 644 $(scenarios) $(call to,$(DATADIR))/folioscope/scenarios
	$(INSTALL) -m 644 $(wildcard scenarios/schema/*.json) $(call to,$(DATADIR))/folioscope/scenarios/schema
	set -e; for page in $(man_pages); do \
		dir=$(call to,$(MANDIR))/man$${page##*.}; \
		$(INSTALL) -d $$dir; $(INSTALL) -m 644 $$page $$dir; done

uninstall:
	rm -f $(call to,$(BINDIR))/folioscope
	rm -rf $(call to,$(DATADIR))/folioscope
	for page in $(man_pages); do rm -f $(call to,$(MANDIR))/man$${page##*.}/$${page##*/}; done

deps:
	@.ci/deps $(build_packages) $(check_packages)

clean:
	rm -rf $(O) compile_commands.json

help:
	@echo 'all          build $(program)'
	@echo 'run          build and open the explorer'
	@echo 'check        every test; check-unit, check-asan, check-lto ...: unit tests of a variant'
	@echo 'check-extra  unit tests with sanitizers, check-memory: allocations fail, check-valgrind, fuzz'
	@echo 'lint         layering, sizes, documentation'
	@echo 'bless        rewrite the expected output under tests/ and the screen in README.md'
	@echo 'bench fuzz   measure; feed it nonsense for FUZZ_SECONDS=$(FUZZ_SECONDS)'
	@echo 'install      PREFIX=$(PREFIX) BINDIR MANDIR DATADIR DESTDIR; uninstall'
	@echo 'deps         install the Debian packages that are missing'
	@echo 'dev          build all with -Werror, and compile_commands.json'
	@echo 'VARIANT=     $(variants): builds in build/VARIANT'

-include $(engine_o:.o=.d) $(unwatched_o:.o=.d) $(tui_o:.o=.d) $(unit:=.d) $(unit_help_o:.o=.d) $(fuzz_help_o:.o=.d) $(fuzz_c:%.c=$(O)/%.d)
-include $(O)/tests/bench/bench.d

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all lib run bench check check-only check-unit $(variants:%=check-%) lint bless
.PHONY: check-extra check-memory check-valgrind fuzz fuzz-only dev install uninstall deps clean help
