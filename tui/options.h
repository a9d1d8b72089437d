/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line, taken apart. One table of options drives parsing, --help,
 * suggestions and what the manual must mention.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "scenario/scenario.h"

struct command;

enum format {
	FORMAT_TEXT, FORMAT_JSON, FORMAT_JSONL, FORMAT_CALLS, FORMAT_ANSI,
	NR_FORMATS
};
extern const char *const format_names[NR_FORMATS];

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
enum table_level { AT_PTE, AT_PMD };

#define MAX_FEATURES 16

struct options {
	const struct command *command;
	char **args;			/* what is neither an option nor the command */
	u32 nr_args;

	/* NULL: not given */
	const char *lanes;		/* --lanes A,B: globs */
	const char *lane;		/* --lane GLOB */
	const char *at;			/* --at MOMENT */
	const char *view;
	const char *under;
	const char *kernel;
	const char *feature[MAX_FEATURES];	/* NAME=on|off */
	u32 nr_features;
	u32 cols, rows;			/* --size CxR; 0: not given */
	u32 format;			/* enum format */
	u32 color;			/* enum color */
	u32 level;			/* enum table_level */
	const char *format_word;	/* as given */
	bool ascii, encode, help, version;
};

struct option_info {
	const char *name;		/* without the dashes */
	char letter;			/* 0: none */
	const char *arg;		/* "MOMENT"; NULL: takes none */
	const char *text;		/* one line of help */
	u32 commands;			/* bit i: enum command_id i; 0: all */
	bool (*set)(struct options *opt, const struct option_info *info, const char *arg,
		    struct error *err);
	size_t offset;			/* of what set() sets, in struct options */
};
extern const struct option_info option_infos[];
extern const u32 nr_option_infos;

/* False with one line in err. argv is permuted: opt->args points into it. */
bool options_parse(struct options *opt, int argc, char **argv, struct error *err);
/* --help: of opt->command, or of the program when that is the explorer. */
void options_help(const struct options *opt);
/* May text on standard output be coloured? --color, NO_COLOR, and whether it is a terminal. */
bool options_color(const struct options *opt);

#endif
