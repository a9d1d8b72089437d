/* SPDX-License-Identifier: GPL-2.0-only */
/* Where scenarios come from, where they go, and what the command line changes in them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fnmatch.h>

#include "scenario/expr.h"
#include "scenario/json.h"
#include "scenario/suggest.h"

static void free_texts(char **texts, u32 nr)
{
	for (u32 i = 0; i < nr; i++)
		free(texts[i]);
	free(texts);
}

static void free_lane(struct scn_lane *lane)
{
	free(lane->name);
}

static void free_expect(struct scn_expect *expect)
{
	free(expect->lane);
	free(expect->that);
	free(expect->because);
	expr_free(expect->expr);
}

void scenario_free(struct scenario *s)
{
	if (!s)
		return;
	for (u32 i = 0; i < s->nr_devices; i++)
		free(s->devices[i].id);
	for (u32 i = 0; i < s->nr_lanes; i++)
		free_lane(&s->lanes[i]);
	for (u32 i = 0; i < s->nr_mms; i++)
		free(s->mms[i].id);
	for (u32 i = 0; i < s->nr_folios; i++)
		free(s->folios[i].id);
	for (u32 i = 0; i < s->nr_says; i++) {
		free(s->says[i].lane);
		free(s->says[i].text);
	}
	for (u32 i = 0; i < s->nr_expects; i++)
		free_expect(&s->expects[i]);
	for (u32 i = 0; i < s->nr_reported; i++)
		free(s->reported[i].text);
	free_texts(s->teaches, s->nr_teaches);
	free_texts(s->refs, s->nr_refs);
	free(s->devices);
	free(s->lanes);
	free(s->mms);
	free(s->vmas);
	free(s->folios);
	free(s->by_pfn);
	free(s->maps);
	free(s->entries);
	free(s->slots);
	free(s->tlbs);
	free(s->ops);
	free(s->says);
	free(s->expects);
	free(s->reported);
	free(s->name);
	free(s->file);
	free(s->features);
	free(s->title);
	free(s->summary);
	free(s);
}

/* --- opening --------------------------------------------------------------- */

/* One byte more than is allowed is enough to know. */
static struct scenario *load_stream(const char *name, FILE *stream, struct error *err)
{
	size_t size = JSON_MAX_BYTES + 1, len = 0;
	char *bytes = malloc(size);
	struct scenario *s = NULL;

	if (!bytes) {
		error_no_memory(err);
		return NULL;
	}
	len = fread(bytes, 1, size, stream);
	if (ferror(stream))
		error_set(err, "cannot be read: %s", strerror(errno));
	else
		s = scenario_load(name, bytes, len, err);
	free(bytes);
	return s;
}

static struct scenario *load_file(const char *name, struct error *err)
{
	FILE *stream = fopen(name, "rb");
	struct scenario *s;

	if (!stream) {
		error_set(err, "cannot be opened: %s", strerror(errno));
		return NULL;
	}
	s = load_stream(name, stream, err);
	fclose(stream);
	return s;
}

static bool is_file_name(const char *arg)
{
	size_t len = strlen(arg);

	return strchr(arg, '/') || (len >= 5 && strcmp(arg + len - 5, ".json") == 0);
}

struct scenario *scenario_open(const char *arg, struct error *err)
{
	const char *near;

	if (strcmp(arg, "-") == 0)
		return load_stream("-", stdin, err);
	if (is_file_name(arg))
		return load_file(arg, err);
	for (u32 i = 0; i < nr_bundled_scenarios; i++)
		if (strcmp(bundled_scenarios[i].name, arg) == 0)
			return scenario_load(arg, bundled_scenarios[i].bytes,
					     bundled_scenarios[i].len, err);
	near = suggest(arg, &bundled_scenarios[0].name, sizeof(bundled_scenarios[0]),
		       nr_bundled_scenarios);
	if (near)
		error_set(err, "expected a bundled scenario (did you mean \"%s\"?)", near);
	else
		error_set(err, "expected a bundled scenario (folioscope list), a file with "
			  "a '/' or .json in its name, or -");
	return NULL;
}

/* --- what the command line changes ----------------------------------------- */

/* Conditions that compare with a lane which is left out cannot be judged: they go with it. */
static void drop_expects(struct scenario *s)
{
	u32 kept = 0;

	for (u32 i = 0; i < s->nr_expects; i++) {
		if (!s->expects[i].expr || expr_lanes_present(s->expects[i].expr, s))
			s->expects[kept++] = s->expects[i];
		else
			free_expect(&s->expects[i]);
	}
	s->nr_expects = kept;
}

/* Move the lanes that glob fits, in their order, from from[] to to[]; how many. */
static u32 take_lanes(struct scn_lane *from, u32 nr, const char *glob, struct scn_lane *to)
{
	u32 taken = 0;

	for (u32 i = 0; i < nr; i++) {
		if (from[i].name && fnmatch(glob, from[i].name, 0) == 0) {
			to[taken++] = from[i];
			from[i].name = NULL;
		}
	}
	return taken;
}

static bool no_such_lane(const struct scenario *s, const char *glob, struct error *err)
{
	const char *near = suggest(glob, &s->lanes[0].name, sizeof(s->lanes[0]), s->nr_lanes);
	char names[256] = "";

	if (near)
		return error_set(err, "no lane fits \"%s\" (did you mean \"%s\"?)", glob, near);
	for (u32 i = 0, n = 0; i < s->nr_lanes && n < sizeof(names); i++)
		n += (u32)snprintf(names + n, sizeof(names) - n, "%s%s", i ? ", " : "",
				   s->lanes[i].name);
	return error_set(err, "no lane fits \"%s\"; there are %s", glob, names);
}

/* Every glob of the list must fit a lane of the whole scenario. */
static bool check_globs(const struct scenario *s, char *list, struct error *err)
{
	for (char *glob = list, *comma; glob; glob = comma ? comma + 1 : NULL) {
		u32 i = 0;

		comma = strchr(glob, ',');
		if (comma)
			*comma = '\0';
		while (i < s->nr_lanes && fnmatch(glob, s->lanes[i].name, 0) != 0)
			i++;
		if (i == s->nr_lanes)
			return no_such_lane(s, glob, err);
		if (comma)
			*comma = ',';
	}
	return true;
}

static void keep_lanes(struct scenario *s, char *list, struct scn_lane *kept)
{
	u32 nr = 0;

	for (char *glob = list, *comma; glob; glob = comma ? comma + 1 : NULL) {
		comma = strchr(glob, ',');
		if (comma)
			*comma = '\0';
		nr += take_lanes(s->lanes, s->nr_lanes, glob, kept + nr);
	}
	for (u32 i = 0; i < s->nr_lanes; i++)
		free_lane(&s->lanes[i]);
	free(s->lanes);
	s->lanes = kept;
	s->nr_lanes = nr;
	s->narrowed = true;
	drop_expects(s);
}

bool scenario_select_lanes(struct scenario *s, const char *list, struct error *err)
{
	size_t size = strlen(list) + 1;
	struct scn_lane *kept = calloc(s->nr_lanes, sizeof(*kept));
	char *copy = malloc(size);
	bool ok = kept && copy;

	if (!ok)
		error_no_memory(err);
	ok = ok && check_globs(s, memcpy(copy, list, size), err);
	if (ok)
		keep_lanes(s, copy, kept);
	else
		free(kept);
	free(copy);
	return ok;
}

/* For the command that opens this run again. */
static bool note_feature(struct scenario *s, const char *setting, struct error *err)
{
	static const char option[] = " --feature ";
	size_t old = s->features ? strlen(s->features) : 0;
	size_t size = old + sizeof(option) + strlen(setting);
	char *grown = realloc(s->features, size);

	if (!grown)
		return error_no_memory(err);
	snprintf(grown + old, size - old, "%s%s", option, setting);
	s->features = grown;
	return true;
}

bool scenario_set_feature(struct scenario *s, const char *setting, struct error *err)
{
	const char *equals = strchr(setting, '=');
	char name[32] = "";
	enum cpu_feature feature;
	const char *near;
	bool on;

	if (!equals || (strcmp(equals, "=on") != 0 && strcmp(equals, "=off") != 0))
		return error_set(err, "%s: expected NAME=on or NAME=off", setting);
	on = strcmp(equals, "=on") == 0;
	if ((size_t)(equals - setting) < sizeof(name))
		memcpy(name, setting, (size_t)(equals - setting));
	feature = cpu_feature_find(name);
	if (feature == NR_CPU_FEATURES) {
		near = suggest(name, &cpu_features[0].name, sizeof(cpu_features[0]),
			       NR_CPU_FEATURES);
		return error_set(err, "%s: unknown CPU feature%s%s%s", setting,
				 near ? " (did you mean \"" : "", near ? near : "",
				 near ? "\"?)" : "");
	}
	for (u32 i = 0; i < s->nr_lanes; i++) {
		s->lanes[i].features &= ~(1u << feature);
		s->lanes[i].features |= (u32)on << feature;
	}
	return note_feature(s, setting, err);
}

static const char *write_name(const struct scn_folio *spec, u32 k, u32 page, char *buf)
{
	u32 n;

	if (spec->count == 1)
		n = (u32)snprintf(buf, 32, "%.20s", spec->id);
	else
		n = (u32)snprintf(buf, 32, "%.20s%u", spec->id, k);
	if (page)
		snprintf(buf + n, 32 - n, ".%u", page);
	return buf;
}

const char *folio_name(const struct scenario *s, u32 folio, char *buf)
{
	u32 placed = 0, tail;

	for (u32 i = 0; i < s->nr_folios; i++) {
		const struct scn_folio *spec = &s->folios[s->by_pfn[i]];

		if (folio - spec->state < spec->count)
			return write_name(spec, folio - spec->state, 0, buf);
		placed += spec->count;
	}
	tail = folio - placed;
	for (u32 i = 0; i < s->nr_folios; i++) {
		const struct scn_folio *spec = &s->folios[s->by_pfn[i]];
		u32 each = (1u << spec->order) - 1;

		if (tail < spec->count * each)
			return write_name(spec, tail / each, tail % each + 1, buf);
		tail -= spec->count * each;
	}
	return "?";
}
