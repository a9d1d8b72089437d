/* SPDX-License-Identifier: GPL-2.0-only */
/* FIELD=VALUE words: every vector from its inputs, and what must be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pte_encode.h"
#include "vectors.h"

#define MAX_WORDS 12
#define WORD 64

static const struct softleaf_types types_7_3 = { .max_swapfiles = 24, .nr_device = 3 };
static const struct softleaf_types types_6_12 = { .max_swapfiles = 23, .nr_device = 4 };

/* The inputs that are fields, as the command line would have them. */
static u32 words_of(const cJSON *inputs, char words[MAX_WORDS][WORD])
{
	static const char *const prose[] = { "desc", "note", "cfg" };
	const cJSON *input;
	u32 nr = 0;

	cJSON_ArrayForEach(input, inputs) {
		bool skip = false;

		for (u32 i = 0; i < NR_OF(prose); i++)
			skip |= strcmp(input->string, prose[i]) == 0;
		if (skip)
			continue;
		assert_true(nr < MAX_WORDS);
		if (cJSON_IsString(input))
			snprintf(words[nr++], WORD, "%.20s=%.40s", input->string,
				 input->valuestring);
		else
			snprintf(words[nr++], WORD, "%.20s=%d", input->string, input->valueint);
	}
	return nr;
}

static const struct softleaf_types *types_of(const cJSON *inputs)
{
	const cJSON *cfg = member(inputs, "cfg");

	if (cJSON_IsString(cfg) && strstr(cfg->valuestring, "6.12 full"))
		return &types_6_12;
	return &types_7_3;
}

static void test_vectors_from_their_inputs(void **state)
{
	cJSON *vectors = read_json("tests/data/pte-vectors.json");
	const cJSON *vector;
	u32 nr = 0;

	(void)state;
	cJSON_ArrayForEach(vector, vectors) {
		const cJSON *inputs = member(vector, "inputs");
		const char *kind = text_of(vector, "kind");
		const struct arch *arch;
		char words[MAX_WORDS][WORD], *list[MAX_WORDS];
		struct error err = { .text = "" };
		pte_t pte;
		u32 n;

		if (member(inputs, "op") || (strcmp(kind, "pte") != 0 && strcmp(kind, "swp") != 0 &&
					     strcmp(kind, "softleaf") != 0))
			continue;
		n = words_of(inputs, words);
		for (u32 i = 0; i < n; i++)
			list[i] = words[i];
		arch = arch_find(text_of(vector, "arch"));
		if (!pte_encode(arch, arch->pte, types_of(inputs), list, n, &pte, &err))
			fail_msg("%s: %s", cJSON_PrintUnformatted(vector), err.text);
		assert_hex(pte, u64_of(vector, "expected"), vector);
		nr++;
	}
	assert_int_equal(nr, 60);
	cJSON_Delete(vectors);
}

static void expect_of(const char *name, bool pmd, const char *line, u64 want,
		      const char *complaint)
{
	const struct arch *arch = arch_find(name);
	char copy[256], *words[MAX_WORDS];
	struct error err = { .text = "" };
	pte_t pte = 0;
	u32 nr = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		words[nr++] = word;
	assert_int_equal(pte_encode(arch, pmd ? arch->pmd : arch->pte, &types_7_3, words, nr, &pte,
				    &err), !complaint);
	if (complaint)
		assert_string_equal(err.text, complaint);
	else
		assert_hex(pte, want, NULL);
}

static void expect(const char *arch, const char *line, u64 want, const char *complaint)
{
	expect_of(arch, false, line, want, complaint);
}

static void test_defaults(void **state)
{
	(void)state;
	expect("x86_64", "pfn=0x12345", 0x8000000012345867, NULL);
	expect("arm64", "pfn=0x12345", 0x00e8000012345f43, NULL);
	expect("arm64", "kind=none", 0, NULL);
	expect("x86_64", "offset=4096 exclusive=1", 0x07ffffffffdffe08, NULL);
	expect("arm64", "kind=migration_write pfn=0x12345 A=1 D=1", 0x00030000123456c0, NULL);
	expect("arm64", "kind=pte_marker_uffd_wp", 0x17c0, NULL);
	expect("x86_64", "kind=hwpoison pfn=0x12345", 0xc7fffffffdb97400, NULL);
	expect("x86_64", "kind=protnone pfn=0x12345", 0x040fffffedcba920, NULL);
}

static void test_pmd(void **state)
{
	(void)state;
	expect_of("x86_64", true, "pfn=0x12400", 0x80000000124008e7, NULL);
	expect_of("x86_64", true, "kind=invalid pfn=0x12400", 0x800fffffeda008e6, NULL);
	expect_of("x86_64", true, "protnone=1 pfn=0x12400", 0x040fffffeda009a0, NULL);
	expect_of("arm64", true, "pfn=0x12400", 0x00e8000012400f41, NULL);
	expect_of("arm64", true, "kind=invalid pfn=0x12400", 0x00e8000012400f40, NULL);
	expect_of("arm64", true, "kind=none", 0, NULL);
	expect_of("arm64", true, "pfn=0x12345", 0, "pfn 0x12345 is no multiple of 0x200");
	expect_of("arm64", false, "kind=invalid", 0, "kind=invalid: only at --level pmd");
}

static void test_refusals(void **state)
{
	(void)state;
	expect("arm64", "zzz=1", 0,
	       "unknown field \"zzz\": expected one of kind softleaf pfn write young A dirty D "
	       "uffd exec nx cont special user pkey protnone tagged type offset exclusive");
	expect("x86_64", "pfm=1", 0, "unknown field \"pfm\" (did you mean \"pfn\"?)");
	expect("x86_64", "pfn", 0, "\"pfn\": expected FIELD=VALUE");
	expect("x86_64", "cont=1", 0, "x86_64 entries have no cont");
	expect("arm64", "soft_dirty=1", 0, "arm64 entries have no soft_dirty");
	expect("arm64", "write=2", 0, "write: expected 0 or 1, not 2");
	expect("arm64", "pfn=zz", 0, "pfn: \"zz\" is no number");
	expect("arm64", "pfn=0x8000000000", 0, "pfn 0x8000000000 does not fit");
	expect("arm64", "pfn=1 pfn=2", 0, "pfn is given twice");
	expect("arm64", "kind=swap offset=1 write=1", 0, "a swap entry has no write");
	expect("arm64", "kind=swop", 0, "unknown kind \"swop\" (did you mean \"swap\"?)");
	expect("arm64", "dirty=hw write=0", 0,
	       "dirty=hw needs write=1: hardware marks only writable entries");
	expect("x86_64", "softleaf=hwpoison type=23 offset=1", 0,
	       "hwpoison is type 24 in this kernel, not 23 (see --kernel)");
	expect("arm64", "exec=1 nx=1", 0, "exec and nx contradict each other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors_from_their_inputs),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_pmd),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
