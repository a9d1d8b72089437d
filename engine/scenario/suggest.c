/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "scenario/suggest.h"

#define LONGEST 63

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static u32 min3(u32 a, u32 b, u32 c)
{
	u32 ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Insertions, deletions, changes and swaps of neighbours that turn a into b. */
static u32 distance(const char *a, size_t len_a, const char *b, size_t len_b)
{
	u32 row[3][LONGEST + 1] = { 0 };

	for (u32 j = 0; j <= len_b; j++)
		row[0][j] = j;
	for (u32 i = 1; i <= len_a; i++) {
		u32 *now = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];

		now[0] = i;
		for (u32 j = 1; j <= len_b; j++) {
			char x = lower(a[i - 1]), y = lower(b[j - 1]);

			now[j] = min3(up[j] + 1, now[j - 1] + 1, up[j - 1] + (x != y));
			if (i > 1 && j > 1 && x != y && x == lower(b[j - 2]) &&
			    lower(a[i - 2]) == y && up2[j - 2] + 1 < now[j])
				now[j] = up2[j - 2] + 1;
		}
	}
	return row[len_a % 3][len_b];
}

const char *name_at(const void *names, size_t stride, u32 i)
{
	const char *name;

	memcpy(&name, (const char *)names + stride * i, sizeof(name));
	return name;
}

const char *suggest(const char *word, const void *names, size_t stride, u32 nr)
{
	const char *best = NULL, *longer = NULL;
	size_t len = strlen(word);
	u32 least = UINT32_MAX;

	if (len < 2 || len > LONGEST)
		return NULL;
	for (u32 i = 0; i < nr; i++) {
		const char *name = name_at(names, stride, i);
		size_t name_len = name ? strlen(name) : 0;
		u32 d, near = len > 3 ? (u32)len / 3 : 1;

		if (name_len < 2 || name_len > LONGEST)
			continue;
		d = distance(word, len, name, name_len);
		if (d <= near && d < least) {
			least = d;
			best = name;
		}
		if (!longer && len >= 3 && strncmp(word, name, len) == 0)
			longer = name;
	}
	return best ? best : longer;
}
