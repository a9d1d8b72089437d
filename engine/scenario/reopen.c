/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line that opens a moment of this run again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/run.h"

/* What a terminal must not obey, as bash and POSIX.1-2024 write it. */
static void put_escaped(FILE *out, const char *before, const char *word)
{
	fprintf(out, "$'%s", before);
	for (const unsigned char *c = (const unsigned char *)word; *c; c++)
		fprintf(out, *c == '\'' || *c == '\\' ? "\\%c" :
			     *c < 0x20 || *c >= 0x7f ? "\\%03o" : "%c", *c);
	putc('\'', out);
}

/* A word as a shell takes it back; what begins with '-' must not be taken for an option. */
static void put_word(FILE *out, const char *word)
{
	const char *before = *word == '-' && word[1] ? "./" : "";
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./,:@%+=-";

	if (has_control(word)) {
		put_escaped(out, before, word);
		return;
	}
	if (*word && word[strspn(word, plain)] == '\0') {
		fprintf(out, "%s%s", before, word);
		return;
	}
	fprintf(out, "'%s", before);
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (const char[]){ *word, '\0' }, out);
	putc('\'', out);
}

static void put_lanes(FILE *out, const struct scenario *s)
{
	for (u32 i = 0; i < s->nr_lanes; i++)
		fprintf(out, "%s%s", i ? "," : " --lanes ", s->lanes[i].name);
}

char *run_command(const struct scenario *s, const char *lanes, const char *lane, u64 pos)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs("folioscope ", out);
	put_word(out, s->file);
	if (lanes)
		fprintf(out, " --lanes %s", lanes);
	else if (s->narrowed)
		put_lanes(out, s);
	fprintf(out, "%s --at %s:%llu", s->features ? s->features : "", lane,
		(unsigned long long)pos);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
