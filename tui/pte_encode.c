/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <string.h>

#include "pte_encode.h"
#include "scenario/json.h"
#include "scenario/suggest.h"

enum need { ALL, CONT, SOFT_DIRTY, TAGGED, SHADOW_STACK };	/* what an architecture must have */
enum { PAGE = 1, LEAF = 2, ANY = 3 };		/* present entries; swap and other softleaves */

enum word_id {
	W_KIND, W_PFN, W_WRITE, W_YOUNG, W_DIRTY, W_SOFT_DIRTY, W_SOFT_DIRTY_CFG, W_UFFD, W_EXEC,
	W_NX, W_CONT, W_SPECIAL, W_USER, W_PKEY, W_PROTNONE, W_TAGGED, W_SHSTK, W_TYPE, W_OFFSET,
	W_EXCLUSIVE, NR_WORDS
};

struct entry_word {
	const char *name;
	enum word_id id;
	u64 max;
	enum need need;
	u32 kinds;
};

static const struct entry_word entry_words[] = {
	{ "kind", W_KIND, 0, ALL, ANY },
	{ "softleaf", W_KIND, 0, ALL, ANY },
	{ "pfn", W_PFN, (1ull << 40) - 1, ALL, ANY },
	{ "write", W_WRITE, 1, ALL, PAGE },
	{ "young", W_YOUNG, 1, ALL, ANY },
	{ "A", W_YOUNG, 1, ALL, ANY },
	{ "dirty", W_DIRTY, 1, ALL, ANY },
	{ "D", W_DIRTY, 1, ALL, ANY },
	{ "soft_dirty", W_SOFT_DIRTY, 1, SOFT_DIRTY, ANY },
	{ "softdirty", W_SOFT_DIRTY, 1, SOFT_DIRTY, ANY },
	{ "soft_dirty_cfg", W_SOFT_DIRTY_CFG, 1, SOFT_DIRTY, ANY },
	{ "uffd", W_UFFD, 1, ALL, ANY },
	{ "exec", W_EXEC, 1, ALL, PAGE },
	{ "nx", W_NX, 1, ALL, PAGE },
	{ "cont", W_CONT, 1, CONT, PAGE },
	{ "special", W_SPECIAL, 1, ALL, PAGE },
	{ "user", W_USER, 1, ALL, PAGE },
	{ "pkey", W_PKEY, 15, ALL, PAGE },
	{ "protnone", W_PROTNONE, 1, ALL, PAGE },
	{ "tagged", W_TAGGED, 1, TAGGED, PAGE },
	{ "shstk", W_SHSTK, 1, SHADOW_STACK, PAGE },
	{ "type", W_TYPE, 31, ALL, LEAF },
	{ "offset", W_OFFSET, (1ull << 50) - 1, ALL, LEAF },
	{ "exclusive", W_EXCLUSIVE, 1, ALL, LEAF },
};

static const char *const kinds[] = {
	"present", "protnone", "invalid", "none", "swap", "hwpoison", "migration_read",
	"migration_read_exclusive", "migration_write", "device_private_read",
	"device_private_write", "device_exclusive", "device_exclusive_read",
	"device_exclusive_write", "pte_marker", "pte_marker_uffd_wp", "pte_marker_poisoned",
	"pte_marker_guard",
};

/* The words, read. */
struct request {
	const struct arch *arch;
	const struct pte_ops *ops;
	const struct softleaf_types *types;
	u64 value[NR_WORDS];
	u32 given;		/* bit i: enum word_id i */
	const char *kind;	/* NULL: to be inferred */
	const char *dirty;	/* "hw", "saved" or NULL */
};

static bool has(const struct request *r, enum word_id id)
{
	return r->given >> id & 1;
}

static u64 value(const struct request *r, enum word_id id, u64 otherwise)
{
	return has(r, id) ? r->value[id] : otherwise;
}

static bool on(const struct request *r, enum word_id id)
{
	return value(r, id, 0) != 0;
}

static bool meets(const struct pte_ops *ops, enum need need)
{
	switch (need) {
	case ALL: return true;
	case CONT: return ops->has_cont;
	case SOFT_DIRTY: return ops->has_soft_dirty;
	case TAGGED: return ops->has_tagged;
	case SHADOW_STACK: return ops->has_shadow_stack;
	}
	return false;
}

static void list_words(const struct request *r, const char *name, struct error *err)
{
	size_t len;

	error_set(err, "unknown field \"%s\": expected one of", name);
	len = strlen(err->text);
	for (u32 i = 0; i < NR_OF(entry_words) && len < sizeof(err->text); i++)
		if (meets(r->ops, entry_words[i].need))
			len += (size_t)snprintf(err->text + len, sizeof(err->text) - len, " %s",
						entry_words[i].name);
}

static const struct entry_word *find_word(const struct request *r, const char *word, size_t len,
				       struct error *err)
{
	char name[32];
	const char *near;

	if (len >= sizeof(name))
		len = sizeof(name) - 1;
	memcpy(name, word, len);
	name[len] = '\0';
	for (u32 i = 0; i < NR_OF(entry_words); i++) {
		if (strcmp(entry_words[i].name, name) != 0)
			continue;
		if (meets(r->ops, entry_words[i].need))
			return &entry_words[i];
		error_set(err, "%s entries have no %s", r->arch->name, name);
		return NULL;
	}
	near = suggest(name, &entry_words[0].name, sizeof(entry_words[0]), NR_OF(entry_words));
	if (near)
		error_set(err, "unknown field \"%s\" (did you mean \"%s\"?)", name, near);
	else
		list_words(r, name, err);
	return NULL;
}

static bool read_kind(struct request *r, const char *word, struct error *err)
{
	const char *near;

	for (u32 i = 0; i < NR_OF(kinds); i++) {
		if (strcmp(kinds[i], word) == 0) {
			r->kind = kinds[i];
			return true;
		}
	}
	if (strcmp(word, "migration") == 0)
		return error_set(err, "kind=migration: expected migration_read, "
				 "migration_read_exclusive or migration_write");
	near = suggest(word, kinds, sizeof(kinds[0]), NR_OF(kinds));
	if (near)
		return error_set(err, "unknown kind \"%.40s\" (did you mean \"%s\"?)", word, near);
	return error_set(err, "unknown kind \"%.40s\"", word);
}

static bool read_word(struct request *r, const char *word, struct error *err)
{
	const char *equals = strchr(word, '=');
	const struct entry_word *info;
	const char *end;
	u64 number;

	if (!equals)
		return error_set(err, "\"%.40s\": expected FIELD=VALUE", word);
	info = find_word(r, word, (size_t)(equals - word), err);
	if (!info)
		return false;
	if (has(r, info->id))
		return error_set(err, "%s is given twice", info->name);
	r->given |= 1u << info->id;
	word = equals + 1;
	if (info->id == W_KIND)
		return read_kind(r, word, err);
	if (info->id == W_DIRTY && (strcmp(word, "hw") == 0 || strcmp(word, "saved") == 0)) {
		r->dirty = word;
		r->value[W_DIRTY] = 1;
		return true;
	}
	end = word;
	if (!parse_number(&end, &number) || *end)
		return error_set(err, "%s: \"%.40s\" is no number", info->name, word);
	if (number > info->max)
		return error_set(err, info->max == 1 ? "%s: expected 0 or 1, not %s" :
				 "%s: %s is too large", info->name, word);
	r->value[info->id] = number;
	return true;
}

static bool no_room(const struct request *r, struct error *err)
{
	unsigned long long pfn = r->value[W_PFN];

	if (pfn % r->ops->nr_pages)
		return error_set(err, "pfn 0x%llx is no multiple of 0x%x", pfn, r->ops->nr_pages);
	return error_set(err, "pfn 0x%llx does not fit", pfn);
}

/* --- present entries ------------------------------------------------------ */

static void set_dirty(const struct request *r, struct pte_desc *desc, bool dirty)
{
	bool twice = r->ops->marks_dirty_twice;

	desc->hw_dirty = r->dirty ? r->dirty[0] == 'h' : dirty && desc->write;
	desc->sw_dirty = r->dirty ? r->dirty[0] == 's' : dirty && (twice || !desc->write);
}

static pte_t base_entry(const struct request *r)
{
	const struct pte_ops *ops = r->ops;
	pte_t pte = ops->pfn_pte(r->value[W_PFN], PAGE_READONLY);

	if (on(r, W_SPECIAL))
		return ops->mkspecial(pte);
	pte = ops->mkwrite(ops->mkdirty(pte));
	if (strcmp(r->kind, "invalid") == 0)
		return ops->mkinvalid(pte);
	return on(r, W_PROTNONE) ? ops->modify(pte, PAGE_NONE) : pte;
}

static bool encode_page(const struct request *r, pte_t *pte, struct error *err)
{
	const struct pte_ops *ops = r->ops;
	bool dirty, shadow = on(r, W_SHSTK);
	struct pte_desc desc;

	ops->decode(base_entry(r), r->types, &desc);
	if (desc.pfn != r->value[W_PFN])
		return no_room(r, err);
	if (has(r, W_EXEC) && has(r, W_NX) && on(r, W_EXEC) == on(r, W_NX))
		return error_set(err, "exec and nx contradict each other");
	dirty = value(r, W_DIRTY, desc.dirty && !shadow);
	desc.write = value(r, W_WRITE, desc.write && !on(r, W_UFFD) && !shadow);
	desc.young = value(r, W_YOUNG, desc.young);
	desc.uffd = on(r, W_UFFD);
	desc.cont = on(r, W_CONT);
	desc.special = on(r, W_SPECIAL);
	desc.exec = has(r, W_NX) ? !on(r, W_NX) : value(r, W_EXEC, desc.exec);
	desc.user = value(r, W_USER, desc.user);
	desc.pkey = (u32)value(r, W_PKEY, 0);
	desc.attr = on(r, W_TAGGED);
	desc.soft_dirty = ops->has_soft_dirty && value(r, W_SOFT_DIRTY_CFG, 1) &&
			  value(r, W_SOFT_DIRTY, dirty);
	set_dirty(r, &desc, dirty);
	desc.hw_dirty |= shadow;
	if (!ops->has_shadow_stack && desc.hw_dirty && !desc.write)
		return error_set(err, "dirty=hw needs write=1: hardware marks only writable "
				 "entries");
	if (desc.pkey > ops->max_pkey)
		return error_set(err, "pkey: %s has 0 to %u", r->arch->name, ops->max_pkey);
	*pte = ops->encode(&desc);
	return true;
}

/* --- softleaves ----------------------------------------------------------- */

static u64 marker_bits(const char *kind)
{
	if (strcmp(kind, "pte_marker_uffd_wp") == 0)
		return MARKER_UFFD_WP;
	if (strcmp(kind, "pte_marker_poisoned") == 0)
		return MARKER_POISONED;
	return strcmp(kind, "pte_marker_guard") == 0 ? MARKER_GUARD : 0;
}

static bool named_leaf(const struct request *r, struct pte_desc *desc, struct error *err)
{
	u32 bits = r->ops->swp_pfn_bits;
	bool marker = strncmp(r->kind, "pte_marker", 10) == 0;
	u64 flags = (u64)on(r, W_YOUNG) << bits | (u64)on(r, W_DIRTY) << (bits + 1);
	u64 offset = marker ? marker_bits(r->kind) : r->value[W_PFN] | flags;

	desc->type = softleaf_type(r->types, marker ? "pte_marker" : r->kind);
	if (desc->type == NONE_TYPE)
		return error_set(err, "this kernel has no %s", r->kind);
	if (value(r, W_TYPE, desc->type) != desc->type)
		return error_set(err, "%s is type %u in this kernel, not %u (see --kernel)",
				 r->kind, desc->type, (u32)r->value[W_TYPE]);
	if (r->value[W_PFN] >> bits)
		return no_room(r, err);
	desc->offset = value(r, W_OFFSET, offset);
	if (has(r, W_OFFSET) && (has(r, W_PFN) || has(r, W_YOUNG) || has(r, W_DIRTY)) &&
	    desc->offset != offset)
		return error_set(err, "offset is 0x%llx with this pfn, A and D",
				 (unsigned long long)offset);
	return true;
}

static bool encode_leaf(const struct request *r, pte_t *pte, struct error *err)
{
	struct pte_desc desc = { .kind = PTE_SWAP, .type = (u32)r->value[W_TYPE],
				 .offset = r->value[W_OFFSET] };

	if (strcmp(r->kind, "swap") != 0 && !named_leaf(r, &desc, err))
		return false;
	desc.exclusive = on(r, W_EXCLUSIVE);
	desc.soft_dirty = on(r, W_SOFT_DIRTY);
	desc.uffd = on(r, W_UFFD);
	*pte = r->ops->encode(&desc);
	return true;
}

/* Does each field given belong to that kind of entry? */
static bool fields_fit(const struct request *r, u32 kind, struct error *err)
{
	for (u32 i = 0; i < NR_OF(entry_words); i++)
		if (has(r, entry_words[i].id) && !(entry_words[i].kinds & kind))
			return error_set(err, "a %s entry has no %s", r->kind, entry_words[i].name);
	if (strcmp(r->kind, "swap") == 0 && has(r, W_PFN))
		return error_set(err, "a swap entry has no pfn");
	return true;
}

static void infer_kind(struct request *r)
{
	if (!r->kind && (has(r, W_OFFSET) || has(r, W_TYPE) || has(r, W_EXCLUSIVE)))
		r->kind = "swap";
	if (!r->kind)
		r->kind = on(r, W_PROTNONE) ? "protnone" : "present";
	if (strcmp(r->kind, "protnone") == 0) {
		r->given |= 1u << W_PROTNONE;
		r->value[W_PROTNONE] = 1;
	}
}

static bool is_page(const char *kind)
{
	return strcmp(kind, "present") == 0 || strcmp(kind, "protnone") == 0 ||
	       strcmp(kind, "invalid") == 0;
}

bool pte_encode(const struct arch *arch, const struct pte_ops *ops,
		const struct softleaf_types *types, char *const *words, u32 nr, pte_t *pte,
		struct error *err)
{
	struct request r = { .arch = arch, .ops = ops, .types = types };
	bool page;

	for (u32 i = 0; i < nr; i++)
		if (!read_word(&r, words[i], err))
			return false;
	infer_kind(&r);
	if (strcmp(r.kind, "none") == 0) {
		*pte = 0;
		return true;
	}
	if (strcmp(r.kind, "invalid") == 0 && !ops->mkinvalid)
		return error_set(err, "kind=invalid: only at --level pmd");
	page = is_page(r.kind);
	if (!fields_fit(&r, page ? PAGE : LEAF, err))
		return false;
	return page ? encode_page(&r, pte, err) : encode_leaf(&r, pte, err);
}
