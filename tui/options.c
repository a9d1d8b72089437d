/* SPDX-License-Identifier: GPL-2.0-only */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "scenario/json.h"
#include "scenario/suggest.h"

const char *const format_names[NR_FORMATS] = {
	[FORMAT_TEXT] = "text", [FORMAT_JSON] = "json", [FORMAT_JSONL] = "jsonl",
	[FORMAT_CALLS] = "calls", [FORMAT_ANSI] = "ansi",
};

static const char *const color_names[] = {
	[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never",
};

static const char *const level_names[] = { [AT_PTE] = "pte", [AT_PMD] = "pmd" };

static void *field(struct options *opt, const struct option_info *info)
{
	return (char *)opt + info->offset;
}

static bool set_text(struct options *opt, const struct option_info *info, const char *arg,
		     struct error *err)
{
	(void)err;
	*(const char **)field(opt, info) = arg;
	return true;
}

static bool set_flag(struct options *opt, const struct option_info *info, const char *arg,
		     struct error *err)
{
	(void)arg;
	(void)err;
	*(bool *)field(opt, info) = true;
	return true;
}

/* Only the words that allowed has a bit for. "--WHAT takes A or B, not "X" (did you mean "A"?)". */
static bool set_word(u32 *word, const char *what, const char *const *words, u32 allowed,
		     const char *arg, struct error *err)
{
	const char *names[NR_FORMATS], *near;
	char list[128] = "";
	u32 nr = 0;

	for (u32 i = 0; allowed >> i; i++) {
		if (!(allowed >> i & 1))
			continue;
		if (strcmp(words[i], arg) == 0) {
			*word = i;
			return true;
		}
		names[nr++] = words[i];
	}
	for (u32 i = 0; i < nr; i++) {
		size_t len = strlen(list);

		snprintf(list + len, sizeof(list) - len, "%s%s", names[i],
			 i + 1 == nr ? "" : i + 2 == nr ? " or " : ", ");
	}
	near = suggest(arg, names, sizeof(names[0]), nr);
	return error_set(err, "--%s takes %s, not \"%s\"%s%s%s", what, list, arg,
			 near ? " (did you mean \"" : "", near ? near : "", near ? "\"?)" : "");
}

static bool set_color(struct options *opt, const struct option_info *info, const char *arg,
		      struct error *err)
{
	return set_word(field(opt, info), info->name, color_names, (1u << NR_OF(color_names)) - 1,
			arg, err);
}

static bool set_level(struct options *opt, const struct option_info *info, const char *arg,
		      struct error *err)
{
	return set_word(field(opt, info), info->name, level_names, (1u << NR_OF(level_names)) - 1,
			arg, err);
}

static bool set_size(struct options *opt, const struct option_info *info, const char *arg,
		     struct error *err)
{
	char *end;
	unsigned long cols, rows = 0;

	cols = arg[0] >= '0' && arg[0] <= '9' ? strtoul(arg, &end, 10) : 0;
	if (cols && *end == 'x' && end[1] >= '0' && end[1] <= '9')
		rows = strtoul(end + 1, &end, 10);
	if (!rows || *end || cols > 1000 || rows > 1000)
		return error_set(
			err, "--%s takes columns x rows up to 1000x1000, such as 80x24, not \"%s\"",
			info->name, arg);
	opt->cols = (u32)cols;
	opt->rows = (u32)rows;
	return true;
}

static bool add_feature(struct options *opt, const struct option_info *info, const char *arg,
			struct error *err)
{
	if (opt->nr_features == MAX_FEATURES)
		return error_set(err, "--%s given more than %d times", info->name, MAX_FEATURES);
	opt->feature[opt->nr_features++] = arg;
	return true;
}

#define FOR(id) (1u << CMD_##id)
#define FOR_MOMENT (FOR(EXPLORE) | FOR(STATE) | FOR(SCREEN))
#define FOR_RUN (FOR_MOMENT | FOR(RUN) | FOR(COUNTS) | FOR(CHECK))
#define SET(member) .offset = offsetof(struct options, member)

const struct option_info option_infos[] = {
	{ .name = "at", .arg = "MOMENT", .commands = FOR_MOMENT, .set = set_text, SET(at),
	  .text = "the moment: N steps into the first lane, LANE:N, or \"end\"" },
	{ .name = "view", .arg = "PANE", .commands = FOR(EXPLORE) | FOR(SCREEN), .set = set_text,
	  SET(view), .text = "the pane to begin with, alone on the screen" },
	{ .name = "size", .arg = "CxR", .commands = FOR(SCREEN), .set = set_size,
	  .text = "columns x rows of the screen, such as 80x24" },
	{ .name = "lanes", .arg = "A,B", .commands = FOR_RUN, .set = set_text, SET(lanes),
	  .text = "these lanes alone, in this order; * and ? match any" },
	{ .name = "feature", .arg = "NAME=on|off", .commands = FOR_RUN | FOR(DIFF),
	  .set = add_feature,
	  .text = "switch a feature of the CPUs; may be given several times" },
	{ .name = "lane", .arg = "LANE", .commands = FOR(RUN), .set = set_text, SET(lane),
	  .text = "print the steps of this lane; * and ? match any" },
	{ .name = "under", .arg = "FUNC", .commands = FOR(COUNTS), .set = set_text, SET(under),
	  .text = "count only while this kernel function is on the call path" },
	{ .name = "encode", .commands = FOR(PTE), .set = set_flag, SET(encode),
	  .text = "make an entry from FIELD=VALUE instead of taking one apart" },
	{ .name = "level", .arg = "LEVEL", .commands = FOR(PTE), .set = set_level, SET(level),
	  .text = "pte, or pmd: entries that map 2 MiB" },
	{ .name = "kernel", .arg = "NAME", .commands = FOR(PTE), .set = set_text, SET(kernel),
	  .text = "the kernel that the entries come from" },
	{ .name = "format", .arg = "FORMAT", .set = set_text, SET(format_word),
	  .commands = FOR(RUN) | FOR(COUNTS) | FOR(STATE) | FOR(DIFF) | FOR(SCREEN) |
		      FOR(PTE),
	  .text = "text, or what else the command can print" },
	{ .name = "color", .arg = "WHEN", .set = set_color, SET(color),
	  .text = "auto, always or never; auto obeys NO_COLOR" },
	{ .name = "ascii", .set = set_flag, SET(ascii), .text = "no character outside ASCII" },
	{ .name = "help", .letter = 'h', .set = set_flag, SET(help),
	  .text = "print this help, or a command's, and exit" },
	{ .name = "version", .letter = 'V', .set = set_flag, SET(version),
	  .text = "print the version and exit" },
};
const u32 nr_option_infos = NR_OF(option_infos);

#define FIRST_LONG 256		/* getopt_long() returns FIRST_LONG + index in option_infos[] */

static bool unknown_option(const char *word, int letter, struct error *err)
{
	char name[64];
	const char *near;

	if (letter && letter < FIRST_LONG)
		return error_set(err, "unknown option -%c", letter);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	if (letter)
		return error_set(err, "--%s takes no value",
				 option_infos[letter - FIRST_LONG].name);
	near = suggest(name, &option_infos[0].name, sizeof(option_infos[0]), nr_option_infos);
	if (near)
		return error_set(err, "unknown option --%s (did you mean --%s?)", name, near);
	return error_set(err, "unknown option --%s", name);
}

static const struct option_info *info_of(int c)
{
	if (c >= FIRST_LONG)
		return &option_infos[c - FIRST_LONG];
	for (u32 i = 0; i < nr_option_infos; i++)
		if (option_infos[i].letter && option_infos[i].letter == c)
			return &option_infos[i];
	return NULL;
}

/* What getopt_long() wants to know, from the table. */
static void getopt_tables(struct option *longs, char *shorts)
{
	*shorts++ = ':';
	for (u32 i = 0; i < nr_option_infos; i++) {
		longs[i].name = option_infos[i].name;
		longs[i].has_arg = option_infos[i].arg ? required_argument : no_argument;
		longs[i].val = FIRST_LONG + (int)i;
		if (option_infos[i].letter)
			*shorts++ = option_infos[i].letter;
	}
}

static bool find_command(struct options *opt, struct error *err)
{
	const char *word = opt->nr_args ? opt->args[0] : "", *near;

	opt->command = &commands[CMD_EXPLORE];
	for (u32 i = CMD_EXPLORE + 1; i < NR_COMMANDS; i++) {
		if (strcmp(commands[i].name, word) == 0) {
			opt->command = &commands[i];
			opt->args++;
			opt->nr_args--;
			return true;
		}
	}
	if (!opt->nr_args || strchr(word, '/') || strchr(word, '.') || strcmp(word, "-") == 0)
		return true;
	near = suggest(word, &commands[CMD_LIST].name, sizeof(commands[0]), NR_COMMANDS - CMD_LIST);
	for (u32 i = 0; i < nr_bundled_scenarios; i++)
		if (strcmp(bundled_scenarios[i].name, word) == 0 && opt->nr_args == 1)
			return true;
	if (near)
		return error_set(err, "no command \"%s\" (did you mean \"%s\"?)", word, near);
	for (u32 i = 0; i < nr_option_infos; i++)
		if (strcmp(option_infos[i].name, word) == 0)
			return error_set(err, "no command \"%s\" (did you mean --%s?)", word, word);
	if (opt->nr_args > 1)
		return error_set(err, "no command \"%s\"; folioscope --help lists them", word);
	return true;
}

/* The option is for other commands: say for which. */
static bool misplaced(const struct options *opt, const struct option_info *info, struct error *err)
{
	char list[128] = "";

	for (u32 i = CMD_EXPLORE + 1; i < NR_COMMANDS; i++) {
		size_t len = strlen(list);

		if (info->commands >> i & 1)
			snprintf(list + len, sizeof(list) - len, "%s%s", len ? ", " : "",
				 commands[i].name);
	}
	if (opt->command->name)
		return error_set(err, "%s takes no --%s; it is for %s", opt->command->name,
				 info->name, list);
	return error_set(err, "--%s needs a command: %s", info->name, list);
}

static bool check_command(struct options *opt, u32 given, struct error *err)
{
	const struct command *c = opt->command;
	u32 id = (u32)(c - commands);

	if (opt->help || opt->version)
		return true;
	for (u32 i = 0; i < nr_option_infos; i++) {
		const struct option_info *info = &option_infos[i];

		if (given >> i & 1 && info->commands && !(info->commands >> id & 1))
			return misplaced(opt, info, err);
	}
	if (opt->nr_args < c->min_args || opt->nr_args > c->max_args)
		return error_set(err, "usage: folioscope%s%s%s%s", c->name ? " " : "",
				 c->name ? c->name : "", *c->usage ? " " : "", c->usage);
	if (opt->format_word)
		return set_word(&opt->format, "format", format_names, c->formats, opt->format_word,
				err);
	return true;
}

bool options_parse(struct options *opt, int argc, char **argv, struct error *err)
{
	struct option longs[NR_OF(option_infos) + 1] = { 0 };
	char shorts[NR_OF(option_infos) + 2] = "";
	u32 given = 0;
	int c;

	memset(opt, 0, sizeof(*opt));
	getopt_tables(longs, shorts);
	opterr = 0;
	optind = 0;		/* forget any parse before this one */
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct option_info *info = info_of(c);

		if (c == ':')
			return error_set(err, "--%s needs a value: %s", info_of(optopt)->name,
					 info_of(optopt)->arg);
		if (!info)
			return unknown_option(argv[optind - 1], optopt, err);
		given |= 1u << (info - option_infos);
		if (!info->set(opt, info, optarg, err))
			return false;
	}
	opt->args = argv + optind;
	opt->nr_args = (u32)(argc - optind);
	return find_command(opt, err) && check_command(opt, given, err);
}

static void help_option(const struct option_info *info)
{
	char left[40];

	if (info->letter)
		snprintf(left, sizeof(left), "-%c, --%s", info->letter, info->name);
	else
		snprintf(left, sizeof(left), "    --%s%s%s", info->name, info->arg ? " " : "",
			 info->arg ? info->arg : "");
	printf("  %-28s %s\n", left, info->text);
}

static void help_formats(const struct command *c)
{
	printf("\nFormats:");
	for (u32 i = 0; i < NR_FORMATS; i++)
		if (c->formats >> i & 1)
			printf(" %s", format_names[i]);
	printf("\n");
}

static void help_command(const struct command *c)
{
	if (c->name)
		printf("  folioscope %s%s%s\n", c->name, *c->usage ? " " : "", c->usage);
	else
		printf("  folioscope %s\n", c->usage);
	printf("      %s\n", c->text);
}

void options_help(const struct options *opt)
{
	bool all = opt->command == &commands[CMD_EXPLORE];
	u32 id = (u32)(opt->command - commands);

	if (all) {
		puts("folioscope: leaf through what Linux does to a large folio, page by page\n");
		for (u32 i = 0; i < NR_COMMANDS; i++)
			help_command(&commands[i]);
		puts("\nSCENARIO is a bundled scenario (folioscope list), a file (with a / or\n"
		     "ending in .json), or - for standard input.");
	} else {
		help_command(opt->command);
	}
	printf("\nOptions:\n");
	for (u32 i = 0; i < nr_option_infos; i++)
		if (all || !option_infos[i].commands || option_infos[i].commands >> id & 1)
			help_option(&option_infos[i]);
	if (!all && opt->command->formats & (opt->command->formats - 1))
		help_formats(opt->command);
}

bool options_color(const struct options *opt)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (opt->color != COLOR_AUTO)
		return opt->color == COLOR_ALWAYS;
	return !(no_color && *no_color) && isatty(STDOUT_FILENO) && term && *term &&
	       strcmp(term, "dumb") != 0;
}
