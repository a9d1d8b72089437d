/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pte_encode.h"
#include "scenario/json.h"
#include "scenario/suggest.h"

enum { ARM64 = 1, X86 = 2, BOTH = 3 };		/* which architecture has it */
enum { PAGE = 1, LEAF = 2, ANY = 3 };		/* present entries; swap and other softleaves */

enum key {
	K_KIND, K_PFN, K_WRITE, K_YOUNG, K_DIRTY, K_SOFT_DIRTY, K_SOFT_DIRTY_CFG, K_UFFD, K_EXEC,
	K_NX, K_CONT, K_SPECIAL, K_USER, K_PKEY, K_PROTNONE, K_TAGGED, K_SHSTK, K_TYPE, K_OFFSET,
	K_EXCLUSIVE, NR_KEYS
};

struct key_info {
	const char *name;
	enum key key;
	u64 max;
	u32 archs, kinds;
};

static const struct key_info keys[] = {
	{ "kind", K_KIND, 0, BOTH, ANY },
	{ "softleaf", K_KIND, 0, BOTH, ANY },
	{ "pfn", K_PFN, (1ull << 40) - 1, BOTH, ANY },
	{ "write", K_WRITE, 1, BOTH, PAGE },
	{ "young", K_YOUNG, 1, BOTH, ANY },
	{ "A", K_YOUNG, 1, BOTH, ANY },
	{ "dirty", K_DIRTY, 1, BOTH, ANY },
	{ "D", K_DIRTY, 1, BOTH, ANY },
	{ "soft_dirty", K_SOFT_DIRTY, 1, X86, ANY },
	{ "softdirty", K_SOFT_DIRTY, 1, X86, ANY },
	{ "soft_dirty_cfg", K_SOFT_DIRTY_CFG, 1, X86, ANY },
	{ "uffd", K_UFFD, 1, BOTH, ANY },
	{ "exec", K_EXEC, 1, BOTH, PAGE },
	{ "nx", K_NX, 1, BOTH, PAGE },
	{ "cont", K_CONT, 1, ARM64, PAGE },
	{ "special", K_SPECIAL, 1, BOTH, PAGE },
	{ "user", K_USER, 1, BOTH, PAGE },
	{ "pkey", K_PKEY, 15, BOTH, PAGE },
	{ "protnone", K_PROTNONE, 1, BOTH, PAGE },
	{ "tagged", K_TAGGED, 1, ARM64, PAGE },
	{ "shstk", K_SHSTK, 1, X86, PAGE },
	{ "type", K_TYPE, 31, BOTH, LEAF },
	{ "offset", K_OFFSET, (1ull << 50) - 1, BOTH, LEAF },
	{ "exclusive", K_EXCLUSIVE, 1, BOTH, LEAF },
};

static const char *const kinds[] = {
	"present", "protnone", "none", "swap", "hwpoison", "migration_read",
	"migration_read_exclusive", "migration_write", "device_private_read",
	"device_private_write", "device_exclusive", "device_exclusive_read",
	"device_exclusive_write", "pte_marker", "pte_marker_uffd_wp", "pte_marker_poisoned",
	"pte_marker_guard",
};

/* The words, read. */
struct request {
	const struct arch *arch;
	const struct softleaf_types *types;
	u64 value[NR_KEYS];
	u32 given;		/* bit i: enum key i */
	const char *kind;	/* NULL: to be inferred */
	const char *dirty;	/* "hw", "saved" or NULL */
};

static bool has(const struct request *r, enum key key)
{
	return r->given >> key & 1;
}

static u64 value(const struct request *r, enum key key, u64 otherwise)
{
	return has(r, key) ? r->value[key] : otherwise;
}

static bool on(const struct request *r, enum key key)
{
	return value(r, key, 0) != 0;
}

static u32 arch_bit(const struct arch *arch)
{
	return arch == &arm64_arch ? ARM64 : X86;
}

static bool read_number(const char *word, u64 *out)
{
	char *end;
	int base = word[0] == '0' && (word[1] == 'x' || word[1] == 'X') ? 16 : 10;

	if (word[0] < '0' || word[0] > '9')
		return false;
	errno = 0;
	*out = strtoull(word, &end, base);
	return errno == 0 && *end == '\0' && end != word;
}

static const struct key_info *find_key(const struct request *r, const char *word, size_t len,
				       struct error *err)
{
	char name[32];
	const char *near;

	if (len >= sizeof(name))
		len = sizeof(name) - 1;
	memcpy(name, word, len);
	name[len] = '\0';
	for (u32 i = 0; i < NR_OF(keys); i++) {
		if (strcmp(keys[i].name, name) != 0)
			continue;
		if (keys[i].archs & arch_bit(r->arch))
			return &keys[i];
		error_set(err, "%s entries have no %s", r->arch->name, name);
		return NULL;
	}
	near = suggest(name, &keys[0].name, sizeof(keys[0]), NR_OF(keys));
	if (near)
		error_set(err, "unknown field \"%s\" (did you mean \"%s\"?)", name, near);
	else
		error_set(err, "unknown field \"%s\"", name);
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
	const struct key_info *info;
	u64 number;

	if (!equals)
		return error_set(err, "\"%.40s\": expected FIELD=VALUE", word);
	info = find_key(r, word, (size_t)(equals - word), err);
	if (!info)
		return false;
	if (has(r, info->key))
		return error_set(err, "%s is given twice", info->name);
	r->given |= 1u << info->key;
	word = equals + 1;
	if (info->key == K_KIND)
		return read_kind(r, word, err);
	if (info->key == K_DIRTY && (strcmp(word, "hw") == 0 || strcmp(word, "saved") == 0)) {
		r->dirty = word;
		r->value[K_DIRTY] = 1;
		return true;
	}
	if (!read_number(word, &number))
		return error_set(err, "%s: \"%.40s\" is no number", info->name, word);
	if (number > info->max)
		return error_set(err, info->max == 1 ? "%s: expected 0 or 1, not %s" :
				 "%s: %s is too large", info->name, word);
	r->value[info->key] = number;
	return true;
}

static bool no_room(const struct request *r, struct error *err)
{
	return error_set(err, "pfn 0x%llx does not fit", (unsigned long long)r->value[K_PFN]);
}

/* --- present entries ------------------------------------------------------ */

static void set_dirty(const struct request *r, struct pte_desc *desc, bool dirty)
{
	bool arm64 = r->arch == &arm64_arch;

	desc->hw_dirty = r->dirty ? r->dirty[0] == 'h' : dirty && desc->write;
	desc->sw_dirty = r->dirty ? r->dirty[0] == 's' : dirty && (arm64 || !desc->write);
}

static pte_t base_entry(const struct request *r)
{
	const struct pte_ops *ops = r->arch->pte;
	pte_t pte = ops->pfn_pte(r->value[K_PFN], PAGE_READONLY);

	if (on(r, K_SPECIAL))
		return ops->mkspecial(pte);
	pte = ops->mkwrite(ops->mkdirty(pte));
	return on(r, K_PROTNONE) ? ops->modify(pte, PAGE_NONE) : pte;
}

static bool encode_page(const struct request *r, pte_t *pte, struct error *err)
{
	const struct pte_ops *ops = r->arch->pte;
	bool dirty, shadow = on(r, K_SHSTK);
	struct pte_desc desc;

	ops->decode(base_entry(r), r->types, &desc);
	if (desc.pfn != r->value[K_PFN])
		return no_room(r, err);
	if (has(r, K_EXEC) && has(r, K_NX) && on(r, K_EXEC) == on(r, K_NX))
		return error_set(err, "exec and nx contradict each other");
	dirty = value(r, K_DIRTY, desc.dirty && !shadow);
	desc.write = value(r, K_WRITE, desc.write && !on(r, K_UFFD) && !shadow);
	desc.young = value(r, K_YOUNG, desc.young);
	desc.uffd = on(r, K_UFFD);
	desc.cont = on(r, K_CONT);
	desc.special = on(r, K_SPECIAL);
	desc.exec = has(r, K_NX) ? !on(r, K_NX) : value(r, K_EXEC, desc.exec);
	desc.user = value(r, K_USER, desc.user);
	desc.pkey = (u32)value(r, K_PKEY, 0);
	desc.attr = on(r, K_TAGGED);
	desc.soft_dirty = ops->has_soft_dirty && value(r, K_SOFT_DIRTY_CFG, 1) &&
			  value(r, K_SOFT_DIRTY, dirty);
	set_dirty(r, &desc, dirty);
	desc.hw_dirty |= shadow;
	if (r->arch == &arm64_arch && desc.hw_dirty && !desc.write)
		return error_set(err, "dirty=hw needs write=1: hardware marks only writable "
				 "entries");
	if (r->arch == &arm64_arch && desc.pkey > 7)
		return error_set(err, "pkey: arm64 has 0 to 7");
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
	u32 bits = r->arch->pte->swp_pfn_bits;
	bool marker = strncmp(r->kind, "pte_marker", 10) == 0;
	u64 flags = (u64)on(r, K_YOUNG) << bits | (u64)on(r, K_DIRTY) << (bits + 1);
	u64 offset = marker ? marker_bits(r->kind) : r->value[K_PFN] | flags;

	desc->type = softleaf_type(r->types, marker ? "pte_marker" : r->kind);
	if (desc->type == NONE_TYPE)
		return error_set(err, "this kernel has no %s", r->kind);
	if (value(r, K_TYPE, desc->type) != desc->type)
		return error_set(err, "%s is type %u in this kernel, not %u (see --kernel)",
				 r->kind, desc->type, (u32)r->value[K_TYPE]);
	if (r->value[K_PFN] >> bits)
		return no_room(r, err);
	desc->offset = value(r, K_OFFSET, offset);
	if (has(r, K_OFFSET) && (has(r, K_PFN) || has(r, K_YOUNG) || has(r, K_DIRTY)) &&
	    desc->offset != offset)
		return error_set(err, "offset is 0x%llx with this pfn, A and D",
				 (unsigned long long)offset);
	return true;
}

static bool encode_leaf(const struct request *r, pte_t *pte, struct error *err)
{
	struct pte_desc desc = { .kind = PTE_SWAP, .type = (u32)r->value[K_TYPE],
				 .offset = r->value[K_OFFSET] };

	if (strcmp(r->kind, "swap") != 0 && !named_leaf(r, &desc, err))
		return false;
	desc.exclusive = on(r, K_EXCLUSIVE);
	desc.soft_dirty = on(r, K_SOFT_DIRTY);
	desc.uffd = on(r, K_UFFD);
	*pte = r->arch->pte->encode(&desc);
	return true;
}

/* Does each field given belong to that kind of entry? */
static bool fields_fit(const struct request *r, u32 kind, struct error *err)
{
	for (u32 i = 0; i < NR_OF(keys); i++)
		if (has(r, keys[i].key) && !(keys[i].kinds & kind))
			return error_set(err, "a %s entry has no %s", r->kind, keys[i].name);
	if (strcmp(r->kind, "swap") == 0 && has(r, K_PFN))
		return error_set(err, "a swap entry has no pfn");
	return true;
}

static void infer_kind(struct request *r)
{
	if (!r->kind && (has(r, K_OFFSET) || has(r, K_TYPE) || has(r, K_EXCLUSIVE)))
		r->kind = "swap";
	if (!r->kind)
		r->kind = on(r, K_PROTNONE) ? "protnone" : "present";
	if (strcmp(r->kind, "protnone") == 0) {
		r->given |= 1u << K_PROTNONE;
		r->value[K_PROTNONE] = 1;
	}
}

bool pte_encode(const struct arch *arch, const struct softleaf_types *types, char *const *words,
		u32 nr, pte_t *pte, struct error *err)
{
	struct request r = { .arch = arch, .types = types };
	bool page;

	for (u32 i = 0; i < nr; i++)
		if (!read_word(&r, words[i], err))
			return false;
	infer_kind(&r);
	if (strcmp(r.kind, "none") == 0) {
		*pte = 0;
		return true;
	}
	page = strcmp(r.kind, "present") == 0 || strcmp(r.kind, "protnone") == 0;
	if (!fields_fit(&r, page ? PAGE : LEAF, err))
		return false;
	return page ? encode_page(&r, pte, err) : encode_leaf(&r, pte, err);
}
