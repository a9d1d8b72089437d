/* SPDX-License-Identifier: GPL-2.0-only */
/* Page-table entry codecs against the vectors of tests/data/pte-vectors.json. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arm64/tlbi.h"
#include "arch/pgtable.h"
#include "arch/x86/invlpgb.h"
#include "vectors.h"

static const struct softleaf_types types_7_3 = { .max_swapfiles = 24, .nr_device = 3 };
static const struct softleaf_types types_6_12 = { .max_swapfiles = 23, .nr_device = 4 };

static const struct pte_ops *ops_of(const cJSON *vector)
{
	return strcmp(text_of(vector, "arch"), "arm64") == 0 ? &arm64_pte_ops : &x86_pte_ops;
}

/* What do_anonymous_page() leaves behind in a writable VMA. */
static pte_t anon(const struct pte_ops *ops, u64 pfn)
{
	return ops->mkwrite(ops->mkdirty(ops->pfn_pte(pfn, PAGE_READONLY)));
}

static pte_t batch_key(const struct pte_ops *ops, pte_t pte, bool respect_write, bool respect_soft)
{
	pte = ops->mkclean(pte);
	if (!respect_soft)
		pte = ops->clear_soft_dirty(pte);
	if (!respect_write)
		pte = ops->wrprotect(pte);
	return ops->mkold(pte);
}

static pte_t operated(const struct pte_ops *ops, u64 pfn, const char *op)
{
	if (strcmp(op, "advance1") == 0)
		return ops->advance_pfn(ops->modify(anon(ops, pfn), PAGE_NONE), 1);
	if (strcmp(op, "batch_key_flags0") == 0)
		return batch_key(ops, anon(ops, pfn), false, false);
	if (strcmp(op, "batch_key_respect_write") == 0)
		return batch_key(ops, anon(ops, pfn), true, false);
	if (strcmp(op, "batch_key_rmap_unmap") == 0)
		return batch_key(ops, anon(ops, pfn), true, true);
	fail_msg("unknown op %s", op);
	return 0;
}

/* The same entry from the kernel's own helpers, one after the other. */
static pte_t built(const struct pte_ops *ops, const cJSON *in)
{
	const cJSON *dirty = member(in, "dirty");
	bool clean = dirty && cJSON_IsNumber(dirty) && dirty->valueint == 0;
	bool hw = cJSON_IsString(dirty) && strcmp(dirty->valuestring, "hw") == 0;
	bool exec = flag_of(in, "exec", !flag_of(in, "nx", 1));
	u64 pfn = u64_of(in, "pfn");
	pte_t pte = ops->pfn_pte(pfn, exec ? PAGE_READONLY_EXEC : PAGE_READONLY);

	if (flag_of(in, "special", 0))
		return ops->mkspecial(pte);
	if ((!clean && !hw) || flag_of(in, "softdirty", 0))
		pte = ops->mkdirty(pte);
	if (flag_of(in, "write", 1))
		pte = ops->mkwrite(pte);
	if (clean)
		pte = ops->mkclean(pte);
	if (hw)
		pte = ops->hw_dirty(pte);
	if (!flag_of(in, "young", 1))
		pte = ops->mkold(pte);
	if (flag_of(in, "cont", 0))
		pte = ops->mkcont(pte);
	if (flag_of(in, "uffd", 0))
		pte = ops->mkuffd(pte);
	if (!flag_of(in, "soft_dirty_cfg", 1))
		pte = ops->clear_soft_dirty(pte);
	if (flag_of(in, "protnone", 0))
		pte = ops->modify(anon(ops, pfn), PAGE_NONE);
	return pte;
}

static void check_desc(const struct pte_desc *desc, const cJSON *in)
{
	const cJSON *dirty = member(in, "dirty");

	assert_int_equal(desc->kind, flag_of(in, "protnone", 0) ? PTE_PROTNONE : PTE_PRESENT);
	assert_int_equal(desc->pfn, u64_of(in, "pfn"));
	assert_int_equal(desc->write, flag_of(in, "write", desc->write));
	assert_int_equal(desc->young, flag_of(in, "young", desc->young));
	assert_int_equal(desc->uffd, flag_of(in, "uffd", 0));
	assert_int_equal(desc->cont, flag_of(in, "cont", 0));
	assert_int_equal(desc->special, flag_of(in, "special", 0));
	assert_int_equal(desc->pkey, (u32)flag_of(in, "pkey", 0));
	assert_int_equal(desc->attr, (u32)flag_of(in, "tagged", 0));
	if (!member(in, "protnone"))
		assert_int_equal(desc->exec, flag_of(in, "exec", !flag_of(in, "nx", 1)));
	if (cJSON_IsNumber(dirty))
		assert_int_equal(desc->dirty, dirty->valueint);
	else if (cJSON_IsString(dirty))
		assert_true(desc->hw_dirty != desc->sw_dirty &&
			    desc->hw_dirty == (strcmp(dirty->valuestring, "hw") == 0));
	if (flag_of(in, "shstk", 0))
		assert_true(desc->hw_dirty && !desc->write);
}

static void check_page(const cJSON *vector)
{
	const struct pte_ops *ops = ops_of(vector);
	const cJSON *in = member(vector, "inputs");
	pte_t expected = u64_of(vector, "expected");
	struct pte_desc desc;

	if (member(in, "op")) {
		assert_hex(operated(ops, u64_of(in, "pfn"), text_of(in, "op")), expected, vector);
		return;
	}
	ops->decode(expected, &types_7_3, &desc);
	check_desc(&desc, in);
	assert_hex(ops->encode(&desc), expected, vector);
	if (!member(in, "pkey") && !member(in, "tagged") && !member(in, "shstk"))
		assert_hex(built(ops, in), expected, vector);
}

static void check_swap(const cJSON *vector)
{
	const struct pte_ops *ops = ops_of(vector);
	const cJSON *in = member(vector, "inputs");
	pte_t expected = u64_of(vector, "expected");
	pte_t pte = ops->swp_entry((u32)u64_of(in, "type"), u64_of(in, "offset"));
	bool exclusive = flag_of(in, "exclusive", 0), soft = flag_of(in, "soft_dirty", 0);
	bool uffd = flag_of(in, "uffd", 0);
	struct pte_desc desc;

	if (exclusive)
		pte = ops->swp_mkexclusive(pte);
	if (soft)
		pte = ops->swp_mksoft_dirty(pte);
	if (uffd)
		pte = ops->swp_mkuffd(pte);
	assert_hex(pte, expected, vector);
	assert_int_equal(ops->swp_type(expected), (u32)u64_of(in, "type"));
	assert_int_equal(ops->swp_offset(expected), u64_of(in, "offset"));
	assert_int_equal(ops->swp_exclusive(expected), exclusive);
	assert_int_equal(ops->swp_soft_dirty(expected), soft);
	assert_int_equal(ops->swp_uffd(expected), uffd);
	assert_false(ops->present(expected));
	ops->decode(expected, &types_7_3, &desc);
	if (expected == 0) {
		assert_int_equal(desc.kind, PTE_NONE);
		return;
	}
	assert_int_equal(desc.kind, u64_of(in, "type") == 31 ? PTE_MARKER : PTE_SWAP);
	assert_int_equal(desc.exclusive, exclusive);
	assert_hex(ops->encode(&desc), expected, vector);
}

static void check_softleaf(const cJSON *vector)
{
	const struct pte_ops *ops = ops_of(vector);
	const cJSON *in = member(vector, "inputs");
	bool old = strstr(text_of(in, "cfg"), "6.12 full") != NULL;
	const struct softleaf_types *types = old ? &types_6_12 : &types_7_3;
	const char *name = text_of(in, "softleaf");
	pte_t expected = u64_of(vector, "expected");
	struct pte_desc desc;

	ops->decode(expected, types, &desc);
	assert_memory_equal(desc.name, name, strlen(desc.name));
	assert_int_equal(desc.type, (u32)u64_of(in, "type"));
	assert_int_equal(desc.offset, u64_of(in, "offset"));
	assert_int_equal(softleaf_type(types, desc.name), desc.type);
	if (member(in, "pfn"))
		assert_int_equal(desc.pfn, u64_of(in, "pfn"));
	assert_int_equal(desc.young, flag_of(in, "A", 0));
	assert_int_equal(desc.dirty, flag_of(in, "D", 0));
	assert_int_equal(desc.kind, strcmp(name, "hwpoison") == 0 ? PTE_HWPOISON :
			 strncmp(name, "migration", 9) == 0 ? PTE_MIGRATION : PTE_MARKER);
	assert_hex(ops->encode(&desc), expected, vector);
}

static void check_tlbi(const cJSON *vector, bool range)
{
	const cJSON *in = member(vector, "inputs");
	u32 asid = (u32)u64_of(in, "asid"), level = (u32)flag_of(in, "level", 4);
	u32 scale = (u32)flag_of(in, "scale", 0), num = (u32)flag_of(in, "num", 0);
	u64 va = u64_of(in, "va");

	if (range)
		assert_hex(tlbi_range(va, asid, scale, num, level), u64_of(vector, "expected"),
			   vector);
	else
		assert_hex(tlbi_va(va, asid, flag_of(in, "ttl", 0), level),
			   u64_of(vector, "expected"), vector);
	if (range)
		assert_int_equal(tlbi_range_pages(num, scale), (u32)flag_of(in, "pages", 0));
}

static void check_invlpgb(const cJSON *vector)
{
	const cJSON *in = member(vector, "inputs"), *want = member(vector, "expected");
	const char *form = text_of(in, "form");
	struct invlpgb got;

	if (strcmp(form, "user_nr") == 0)
		got = invlpgb_user_nr((u32)u64_of(in, "pcid"), u64_of(in, "addr"),
				      (u32)u64_of(in, "pages"), false);
	else if (strcmp(form, "single_pcid") == 0)
		got = invlpgb_single_pcid((u32)u64_of(in, "pcid"));
	else
		got = invlpgb_all_nonglobals();
	assert_hex(got.rax, u64_of(want, "rax"), vector);
	assert_hex(got.ecx, u64_of(want, "ecx"), vector);
	assert_hex(got.edx, u64_of(want, "edx"), vector);
}

static void test_vectors(void **state)
{
	cJSON *vectors = read_json("tests/data/pte-vectors.json");
	const cJSON *vector;
	u32 nr = 0;

	(void)state;
	cJSON_ArrayForEach(vector, vectors) {
		const char *kind = text_of(vector, "kind");

		nr++;
		if (strcmp(kind, "pte") == 0)
			check_page(vector);
		else if (strcmp(kind, "swp") == 0)
			check_swap(vector);
		else if (strcmp(kind, "softleaf") == 0)
			check_softleaf(vector);
		else if (strcmp(kind, "tlbi_va") == 0 || strcmp(kind, "tlbi_range") == 0)
			check_tlbi(vector, strcmp(kind, "tlbi_range") == 0);
		else if (strcmp(kind, "invlpgb") == 0)
			check_invlpgb(vector);
		else
			fail_msg("unknown kind %s", kind);
	}
	assert_int_equal(nr, 72);
	cJSON_Delete(vectors);
}

/* --- properties ----------------------------------------------------------- */

static u64 next_random(u64 *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void test_decode_encode_round_trip(void **state)
{
	const struct pte_ops *all[] = { &arm64_pte_ops, &x86_pte_ops, &arm64_pmd_ops,
					&x86_pmd_ops };
	u64 seed = 0x9e3779b97f4a7c15;

	(void)state;
	for (u32 i = 0; i < 400000; i++) {
		const struct pte_ops *ops = all[i & 3];
		const struct softleaf_types *types = i & 4 ? &types_7_3 : &types_6_12;
		struct pte_desc first, second;
		pte_t pte = next_random(&seed);

		ops->decode(pte, types, &first);
		if (first.kind == PTE_TABLE)
			continue;
		pte = ops->encode(&first);
		ops->decode(pte, types, &second);
		assert_int_equal(first.kind, second.kind);
		assert_int_equal(first.pfn, second.pfn);
		assert_int_equal(first.offset, second.offset);
		assert_int_equal(first.type, second.type);
		assert_int_equal(first.dirty, second.dirty);
		assert_hex(ops->encode(&second), pte, NULL);
	}
}

static void test_swap_entries_round_trip(void **state)
{
	const struct pte_ops *all[] = { &arm64_pte_ops, &x86_pte_ops };
	u64 seed = 42;

	(void)state;
	for (u32 i = 0; i < 100000; i++) {
		const struct pte_ops *ops = all[i & 1];
		u64 offset = next_random(&seed) >> 14;
		u32 type = (u32)next_random(&seed) & 31;
		pte_t pte = ops->swp_entry(type, offset);

		assert_false(ops->present(pte));
		assert_int_equal(ops->swp_type(pte), type);
		assert_int_equal(ops->swp_offset(pte), offset);
		pte = ops->swp_mkuffd(ops->swp_mkexclusive(ops->swp_mksoft_dirty(pte)));
		assert_false(ops->present(pte));
		assert_int_equal(ops->swp_type(pte), type);
		assert_int_equal(ops->swp_offset(pte), offset);
		assert_false(ops->swp_exclusive(ops->swp_clear_exclusive(pte)));
	}
}

/* A non-present x86 entry with a small pfn or offset points where no memory is. */
static void test_x86_inverts_against_l1tf(void **state)
{
	const u64 high = 1ull << 51;
	u64 seed = 7;

	(void)state;
	for (u32 i = 0; i < 10000; i++) {
		u64 pfn = next_random(&seed) >> 30;
		pte_t rw = anon(&x86_pte_ops, pfn), hidden = x86_pte_ops.modify(rw, PAGE_NONE);

		assert_true(x86_pte_ops.protnone(hidden));
		assert_int_equal(x86_pte_ops.pfn(hidden), pfn);
		assert_true(hidden & high);
		assert_int_equal(x86_pte_ops.pfn(x86_pte_ops.advance_pfn(hidden, 1)), pfn + 1);
		assert_int_equal(x86_pte_ops.pfn(x86_pte_ops.advance_pfn(hidden, -1)), pfn - 1);
		assert_int_equal(x86_pte_ops.pfn(x86_pte_ops.modify(hidden, PAGE_READONLY)), pfn);
		assert_true(x86_pte_ops.swp_entry(0, pfn & 0xffffffff) & high);
	}
}

/* Dirty never gets lost and never sits in D while RW is clear. */
static void test_x86_saved_dirty(void **state)
{
	const u64 rw = 1ull << 1, d = 1ull << 6, saved = 1ull << 58;
	u64 seed = 99;

	(void)state;
	for (u32 i = 0; i < 10000; i++) {
		const struct pte_ops *ops = &x86_pte_ops;
		pte_t pte = ops->pfn_pte(next_random(&seed) >> 30, PAGE_READONLY);
		bool dirty = false;

		for (u32 n = 0; n < 12; n++) {
			switch (next_random(&seed) % 5) {
			case 0:
				pte = ops->mkdirty(pte);
				dirty = true;
				break;
			case 1:
				pte = ops->mkclean(pte);
				dirty = false;
				break;
			case 2:
				pte = ops->mkwrite(pte);
				break;
			case 3:
				pte = ops->wrprotect(pte);
				break;
			default:
				pte = ops->modify(pte, n & 1 ? PAGE_READONLY : PAGE_NONE);
				break;
			}
			assert_int_equal(ops->dirty(pte), dirty);
			assert_int_equal((pte & d) != 0, dirty && (pte & rw));
			assert_int_equal((pte & saved) != 0, dirty && !(pte & rw));
		}
	}
}

/* The field tables name every bit exactly once, high first. */
static void test_fields_cover_all_bits(void **state)
{
	const struct pte_ops *all[] = { &arm64_pte_ops, &x86_pte_ops };

	(void)state;
	for (u32 i = 0; i < NR_OF(all); i++) {
		for (u32 kind = PTE_NONE; kind < NR_PTE_KINDS; kind++) {
			const struct pte_field *field = all[i]->fields[kind].field;
			u32 nr = all[i]->fields[kind].nr;
			u32 next = 64;

			if (kind == PTE_TABLE || (kind == PTE_INVALID && !all[i]->has_cont)) {
				assert_int_equal(nr, 0);
				continue;
			}
			for (u32 n = 0; n < nr; n++) {
				assert_int_equal(field[n].hi, next - 1);
				assert_true(field[n].lo <= field[n].hi);
				next = field[n].lo;
			}
			assert_int_equal(next, 0);
		}
	}
}

static char *text(const struct pte_ops *ops, pte_t pte, char *buf, size_t size)
{
	return pte_text(ops, &types_7_3, pte, buf, size);
}

static void test_text(void **state)
{
	char buf[80], tiny[8];

	(void)state;
	assert_string_equal(text(&x86_pte_ops, 0x8000000012345867, buf, sizeof(buf)),
			    "pfn 0x12345 RW young dirty soft-dirty");
	assert_string_equal(text(&arm64_pte_ops, 0x1000004, buf, sizeof(buf)),
			    "swap 0:0x1000 excl");
	assert_string_equal(text(&arm64_pte_ops, 0, buf, sizeof(buf)), "none");
	assert_string_equal(text(&arm64_pte_ops, 0x0068000012345bc3, tiny, sizeof(tiny)),
			    "pfn 0x1");
	assert_string_equal(text(&x86_pte_ops, 0xdfffe7fffdb97400, buf, sizeof(buf)),
			    "migration_write pfn 0x12345 young dirty");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_decode_encode_round_trip),
		cmocka_unit_test(test_swap_entries_round_trip),
		cmocka_unit_test(test_x86_inverts_against_l1tf),
		cmocka_unit_test(test_x86_saved_dirty),
		cmocka_unit_test(test_fields_cover_all_bits),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
