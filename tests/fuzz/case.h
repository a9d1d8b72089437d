/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random cases: small machines on which a few operations happen, some of them inside others.
 *
 *   bytes -> case_generate() -> a scenario as JSON -> case_judge() -> what is wrong with it
 *                                     ^                   |
 *                                     `- case_shrink() <--'  as small as it still is wrong
 *
 * The same bytes make the same case. No bytes at all make the simplest: one folio, mapped
 * whole, MADV_PAGEOUT. What the tables of the scenario format and of the operations have and
 * this file does not know is tried with values of its kind.
 */
#ifndef FUZZ_CASE_H
#define FUZZ_CASE_H

#include <cjson/cJSON.h>

#include "scenario/scenario.h"

/* A scenario that loads and runs; NULL: none came of these bytes. */
cJSON *case_generate(const u8 *bytes, size_t len);

/* What is wrong, if anything. */
struct finding {
	char kind[64];		/* "": nothing. "V3", "recording" ...: what kind of wrong */
	char text[1024];	/* a line or several, and the command that shows it */
};

/* Does all hold that must for any scenario? False: finding says what does not. */
bool case_judge(const cJSON *json, struct finding *finding);
/* Leave out whatever may be left out with the same kind of finding. */
void case_shrink(cJSON *json, const struct finding *finding);
/* The text of a case as a file, a line an element; the caller frees it. */
char *case_print(const cJSON *json);

/* The scenario of a case. NULL: err says why it is none. */
struct scenario *case_load(const cJSON *json, struct error *err);

#endif
