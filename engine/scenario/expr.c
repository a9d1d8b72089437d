/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parsing by recursive descent into a tree of nodes in one array, and walking it.
 *
 * Operators bind as in Python, not as in C: & and | before comparisons, so that
 * `pte(app, va) & 1 == 1` means what it says. Comparisons do not chain.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/expr_names.h"
#include "scenario/fields.h"
#include "scenario/suggest.h"

#define MAX_TEXT	1000	/* characters; bounds the depth of the tree */
#define MAX_DEPTH	64	/* of parentheses, calls and signs */

enum op {
	OP_NUMBER, OP_CALL,
	OP_NOT, OP_MINUS,
	OP_OR, OP_AND,
	OP_EQ, OP_NE, OP_LE, OP_LT, OP_GE, OP_GT,
	OP_BIT_OR, OP_BIT_AND,
	OP_SHL, OP_SHR,
	OP_ADD, OP_SUB,
	OP_MUL, OP_DIV, OP_MOD,
};

/* Binary operators, loosest first. Longer spellings stand before their beginnings. */
static const struct { const char *text; enum op op; u32 level; } operators[] = {
	{ "||", OP_OR, 0 }, { "&&", OP_AND, 1 },
	{ "==", OP_EQ, 2 }, { "!=", OP_NE, 2 }, { "<<", OP_SHL, 5 }, { ">>", OP_SHR, 5 },
	{ "<=", OP_LE, 2 }, { ">=", OP_GE, 2 }, { "<", OP_LT, 2 }, { ">", OP_GT, 2 },
	{ "|", OP_BIT_OR, 3 }, { "&", OP_BIT_AND, 4 },
	{ "+", OP_ADD, 6 }, { "-", OP_SUB, 6 },
	{ "*", OP_MUL, 7 }, { "/", OP_DIV, 7 }, { "%", OP_MOD, 7 },
};
#define LEVEL_COMPARE	2
#define LEVEL_UNARY	8

struct arg {
	bool is_node;		/* value is a node to evaluate, else a resolved name */
	s64 value;
};

struct node {
	enum op op;
	u32 a, b;		/* operands */
	s64 number;
	const struct expr_name *call;
	struct arg args[EXPR_MAX_ARGS];
	u32 nr_args;
	char *lane;		/* owned */
	u32 from, to;		/* the call in text, for explanations */
};

struct expr {
	char *text;
	struct node *nodes;
	u32 nr, root;
};

struct parser {
	const struct scenario *s;
	struct expr *e;
	const char *p;
	struct error *err;
	u32 *column;
	u32 depth;
	bool failed;
};

/* --- messages -------------------------------------------------------------- */

/* Only the first counts. Returns NONE, the node that is none. */
__attribute__((format(printf, 3, 4)))
static u32 fail(struct parser *p, const char *at, const char *format, ...)
{
	char text[sizeof(p->err->text)];
	va_list args;

	if (p->failed)
		return NONE;
	p->failed = true;
	*p->column = 1;
	for (const char *c = p->e->text; c < at; c++)
		*p->column += ((unsigned char)*c & 0xc0) != 0x80;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	error_set(p->err, "%s", text);
	return NONE;
}

static u32 fail_word(struct parser *p, const char *at, const char *what, const char *word,
		     const void *names, size_t stride, u32 nr)
{
	const char *near = suggest(word, names, stride, nr);

	if (near)
		return fail(p, at, "expected %s, not \"%.60s\" (did you mean \"%s\"?)", what, word,
			    near);
	return fail(p, at, "expected %s, not \"%.60s\"", what, word);
}

/* --- tokens ---------------------------------------------------------------- */

static void skip_space(struct parser *p)
{
	while (*p->p == ' ' || *p->p == '\t')
		p->p++;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool take(struct parser *p, char c)
{
	skip_space(p);
	if (*p->p != c)
		return false;
	p->p++;
	return true;
}

/* The word at p, in buf; "" if there is none. "A.3" is one word. */
static const char *peek_word(struct parser *p, char *buf, size_t size)
{
	size_t len = 0;

	skip_space(p);
	while (is_word(p->p[len]) || (len && p->p[len] == '.' && is_digit(p->p[len + 1])))
		len++;
	len = len < size ? len : size - 1;
	memcpy(buf, p->p, len);
	buf[len] = '\0';
	return buf;
}

static u32 expected(struct parser *p, const char *what)
{
	skip_space(p);
	if (!*p->p)
		return fail(p, p->p, "expected %s, found the end of the expression", what);
	return fail(p, p->p, "expected %s, found '%.10s'", what, p->p);
}

/* --- calls ----------------------------------------------------------------- */

static u32 parse_level(struct parser *p, u32 level);

static u32 new_node(struct parser *p, struct node node)
{
	if (p->failed)
		return NONE;
	p->e->nodes[p->e->nr] = node;	/* room for one a character */
	return p->e->nr++;
}

/* ".3": the page of the folio, moved past it; without one, page 0. */
static bool take_page(const char **text, const struct scn_folio *folio, u64 *page)
{
	*page = 0;
	if (**text != '.')
		return true;
	++*text;
	return (**text != '0' || !(*text)[1]) && parse_number(text, page) &&
	       *page < 1u << folio->order;
}

/* "A" or, in a group, "A3"; "A.7": what a split made of its page 7 */
static bool find_folio(const struct scenario *s, const char *word, s64 *pfn, u32 *group)
{
	for (u32 i = 0; i < s->nr_folios; i++) {
		const struct scn_folio *folio = &s->folios[i];
		size_t len = strlen(folio->id);
		const char *digits = word + len;
		u64 k = 0, page;

		if (strncmp(word, folio->id, len) != 0)
			continue;
		if (folio->count > 1 && !*digits)
			*group = i;
		if (folio->count > 1 && ((*digits == '0' && digits[1]) || !is_digit(*digits) ||
					 !parse_number(&digits, &k)))
			continue;
		if (!take_page(&digits, folio, &page) || *digits || k >= folio->count)
			continue;
		*pfn = folio->pfn + (s64)((k << folio->order) + page);
		return true;
	}
	return false;
}

static void parse_folio(struct parser *p, const char *word, s64 *value)
{
	const struct scenario *s = p->s;
	u32 group = NONE;

	if (find_folio(s, word, value, &group))
		return;
	if (group != NONE)
		fail(p, p->p, "expected one folio of the group: \"%s0\" to \"%s%u\"", word, word,
		     s->folios[group].count - 1);
	else
		fail_word(p, p->p, "a folio", word, s->folios, sizeof(*s->folios), s->nr_folios);
}

static void parse_name(struct parser *p, const char *what, const void *names, size_t stride, u32 nr,
		       const char *word, s64 *value)
{
	for (u32 i = 0; i < nr; i++) {
		if (strcmp(name_at(names, stride, i), word) == 0) {
			*value = i;
			return;
		}
	}
	fail_word(p, p->p, what, word, names, stride, nr);
}

/* "arm64/batched", in double or, within JSON, single quotes */
static void parse_lane(struct parser *p, struct node *call)
{
	const struct scenario *s = p->s;
	const char *start, *end;
	s64 lane;

	skip_space(p);
	start = p->p + 1;
	end = *p->p == '"' || *p->p == '\'' ? strchr(start, *p->p) : NULL;
	if (!end) {
		expected(p, "a lane in quotes");
		return;
	}
	call->lane = malloc((size_t)(end - start) + 1);
	if (!call->lane) {
		p->failed = true;
		error_no_memory(p->err);
		return;
	}
	memcpy(call->lane, start, (size_t)(end - start));
	call->lane[end - start] = '\0';
	parse_name(p, "a lane", s->lanes, sizeof(*s->lanes), s->nr_lanes, call->lane, &lane);
	p->p = end + 1;
}

static void parse_arg(struct parser *p, char kind, struct node *call)
{
	struct arg *arg = &call->args[call->nr_args++];
	const struct scenario *s = p->s;
	char word[64];

	if (kind == ARG_LANE) {
		parse_lane(p, call);
		return;
	}
	if (kind == ARG_NUMBER) {
		arg->is_node = true;
		arg->value = parse_level(p, 0);
		return;
	}
	peek_word(p, word, sizeof(word));
	if (kind == ARG_FOLIO)
		parse_folio(p, word, &arg->value);
	else if (kind == ARG_MM)
		parse_name(p, "an mm", s->mms, sizeof(*s->mms), s->nr_mms, word, &arg->value);
	else if (kind == ARG_DEVICE)
		parse_name(p, "a swap device", s->devices, sizeof(*s->devices), s->nr_devices, word,
			   &arg->value);
	else if (kind == ARG_FLAG)
		parse_name(p, "a folio flag", folio_flag_names, sizeof(folio_flag_names[0]),
			   NR_FOLIO_FLAGS, word, &arg->value);
	else
		parse_name(p, "a counter", counter_names, sizeof(counter_names[0]),
			   NR_COUNTERS, word, &arg->value);
	p->p += strlen(word);
}

/* Arguments behind the '?' may be left out; with none at all, so may the parentheses. */
static void parse_args(struct parser *p, struct node *call)
{
	const char *kinds = call->call->args;
	bool optional = false;

	if (*kinds == '?' && !take(p, '('))
		return;
	if (*kinds != '?' && !take(p, '(')) {
		fail(p, p->p, "expected %s(%s)", call->call->name, call->call->shown);
		return;
	}
	for (bool first = true; *kinds && !p->failed; kinds++) {
		if (*kinds == '?') {
			optional = true;
			continue;
		}
		skip_space(p);
		if (optional && *p->p == ')')
			break;
		if (!first && !take(p, ',')) {
			fail(p, p->p, "expected %s(%s)", call->call->name, call->call->shown);
			return;
		}
		first = false;
		parse_arg(p, *kinds, call);
	}
	if (!p->failed && !take(p, ')'))
		fail(p, p->p, "expected %s(%s)", call->call->name, call->call->shown);
}

static u32 parse_call(struct parser *p)
{
	struct node call = { .op = OP_CALL, .from = (u32)(p->p - p->e->text) };
	char word[64];
	u32 node;

	peek_word(p, word, sizeof(word));
	for (u32 i = 0; i < nr_expr_names; i++)
		if (strcmp(expr_names[i].name, word) == 0)
			call.call = &expr_names[i];
	if (!call.call)
		return fail_word(p, p->p, "a name", word, &expr_names[0].name,
				 sizeof(expr_names[0]), nr_expr_names);
	p->p += strlen(word);
	parse_args(p, &call);
	call.to = (u32)(p->p - p->e->text);
	while (p->e->text[call.to - 1] == ' ' || p->e->text[call.to - 1] == '\t')
		call.to--;
	node = new_node(p, call);
	if (node == NONE)
		free(call.lane);
	return node;
}

/* --- operators ------------------------------------------------------------- */

static u32 parse_literal(struct parser *p)
{
	const char *start = p->p;
	bool hex = strncmp(start, "0x", 2) == 0;
	u64 value;

	if (!parse_number(&p->p, &value) || (!hex && value > INT64_MAX))
		return fail(p, start, "expected a number of at most 64 bits");
	if (is_word(*p->p))
		return fail(p, start, "expected a decimal or 0x number");
	return new_node(p, (struct node){ .op = OP_NUMBER, .number = (s64)value });
}

static u32 parse_unary(struct parser *p)
{
	u32 a;

	skip_space(p);
	if (++p->depth > MAX_DEPTH)
		return fail(p, p->p, "expected at most %d levels of nesting", MAX_DEPTH);
	if (*p->p == '!' || *p->p == '-') {
		enum op op = *p->p++ == '!' ? OP_NOT : OP_MINUS;

		a = parse_unary(p);
		a = new_node(p, (struct node){ .op = op, .a = a });
	} else if (take(p, '(')) {
		a = parse_level(p, 0);
		if (!p->failed && !take(p, ')'))
			expected(p, "')'");
	} else if (is_digit(*p->p)) {
		a = parse_literal(p);
	} else if (is_word(*p->p)) {
		a = parse_call(p);
	} else {
		a = expected(p, "a number, a name or '('");
	}
	p->depth--;
	return a;
}

/* The binary operator at p, if it is of this level. */
static bool take_operator(struct parser *p, u32 level, enum op *op)
{
	skip_space(p);
	for (u32 i = 0; i < NR_OF(operators); i++) {
		size_t len = strlen(operators[i].text);

		if (strncmp(p->p, operators[i].text, len) != 0)
			continue;
		if (operators[i].level != level)
			return false;
		*op = operators[i].op;
		p->p += len;
		return true;
	}
	return false;
}

static u32 parse_level(struct parser *p, u32 level)
{
	u32 a, b;
	enum op op;

	if (level == LEVEL_UNARY)
		return parse_unary(p);
	a = parse_level(p, level + 1);
	for (bool first = true; !p->failed && take_operator(p, level, &op); first = false) {
		if (level == LEVEL_COMPARE && !first)
			return fail(p, p->p - 1,
				    "comparisons do not chain: expected && between them");
		b = parse_level(p, level + 1);
		a = new_node(p, (struct node){ .op = op, .a = a, .b = b });
	}
	return a;
}

struct expr *expr_parse(const struct scenario *s, const char *text, struct error *err, u32 *column)
{
	struct parser p = { .s = s, .err = err, .column = column };
	size_t len = strlen(text);

	*column = 1;
	if (len > MAX_TEXT) {
		error_set(err, "expected an expression of at most %d characters", MAX_TEXT);
		return NULL;
	}
	p.e = calloc(1, sizeof(*p.e));
	if (p.e) {
		p.e->text = malloc(len + 1);
		p.e->nodes = calloc(len + 1, sizeof(*p.e->nodes));
	}
	if (!p.e || !p.e->text || !p.e->nodes) {
		error_no_memory(err);
		expr_free(p.e);
		return NULL;
	}
	memcpy(p.e->text, text, len + 1);
	p.p = p.e->text;
	p.e->root = parse_level(&p, 0);
	skip_space(&p);
	if (!p.failed && *p.p)
		expected(&p, "an operator or the end");
	if (p.failed) {
		expr_free(p.e);
		return NULL;
	}
	return p.e;
}

void expr_free(struct expr *e)
{
	if (!e)
		return;
	for (u32 i = 0; i < e->nr; i++)
		free(e->nodes[i].lane);
	free(e->nodes);
	free(e->text);
	free(e);
}

bool expr_lanes_present(const struct expr *e, const struct scenario *s)
{
	for (u32 i = 0; i < e->nr; i++) {
		const char *lane = e->nodes[i].lane;
		u32 k = 0;

		while (lane && k < s->nr_lanes && strcmp(s->lanes[k].name, lane) != 0)
			k++;
		if (lane && k == s->nr_lanes)
			return false;
	}
	return true;
}

/* --- evaluation ------------------------------------------------------------ */

static bool eval(const struct expr *e, u32 node, const struct expr_env *env, s64 *value,
		 struct error *err);

static bool eval_call(const struct expr *e, const struct node *n, const struct expr_env *env,
		      s64 *value, struct error *err)
{
	struct expr_call call = { .env = env, .lane = n->lane, .nr = n->nr_args, .err = err };
	struct error why = { .text = "" };

	for (u32 i = 0; i < n->nr_args; i++) {
		call.arg[i] = n->args[i].value;
		if (n->args[i].is_node && !eval(e, (u32)n->args[i].value, env, &call.arg[i], err))
			return false;
	}
	call.err = &why;
	return expr_call_eval(n->call, &call, value) ||
	       error_set(err, "%.*s: %.300s", (int)(n->to - n->from), e->text + n->from, why.text);
}

/* Two's complement throughout: overflow wraps around. */
static bool apply(enum op op, s64 a, s64 b, s64 *value, struct error *err)
{
	u64 x = (u64)a, y = (u64)b;

	switch (op) {
	case OP_EQ: *value = a == b; return true;
	case OP_NE: *value = a != b; return true;
	case OP_LT: *value = a < b; return true;
	case OP_LE: *value = a <= b; return true;
	case OP_GT: *value = a > b; return true;
	case OP_GE: *value = a >= b; return true;
	case OP_BIT_OR: *value = (s64)(x | y); return true;
	case OP_BIT_AND: *value = (s64)(x & y); return true;
	case OP_ADD: *value = (s64)(x + y); return true;
	case OP_SUB: *value = (s64)(x - y); return true;
	case OP_MUL: *value = (s64)(x * y); return true;
	case OP_SHL: case OP_SHR:
		if (y > 63)
			return error_set(err, "a shift by %lld", (long long)b);
		*value = op == OP_SHL ? (s64)(x << y) : a >> y;
		return true;
	case OP_DIV: case OP_MOD:
		if (b == 0)
			return error_set(err, "a division by zero");
		if (b == -1)
			*value = op == OP_DIV ? (s64)-x : 0;
		else
			*value = op == OP_DIV ? a / b : a % b;
		return true;
	default:
		return false;
	}
}

static bool eval(const struct expr *e, u32 node, const struct expr_env *env, s64 *value,
		 struct error *err)
{
	const struct node *n = &e->nodes[node];
	s64 a, b;

	if (n->op == OP_NUMBER) {
		*value = n->number;
		return true;
	}
	if (n->op == OP_CALL)
		return eval_call(e, n, env, value, err);
	if (!eval(e, n->a, env, &a, err))
		return false;
	if (n->op == OP_NOT || n->op == OP_MINUS) {
		*value = n->op == OP_NOT ? !a : (s64)-(u64)a;
		return true;
	}
	if (n->op == OP_OR || n->op == OP_AND) {
		*value = !!a;
		if ((n->op == OP_OR) == !!a)
			return true;
		if (!eval(e, n->b, env, &b, err))
			return false;
		*value = !!b;
		return true;
	}
	return eval(e, n->b, env, &b, err) && apply(n->op, a, b, value, err);
}

bool expr_eval(const struct expr *e, const struct expr_env *env, s64 *value, struct error *err)
{
	return eval(e, e->root, env, value, err);
}

/* --- explanation ----------------------------------------------------------- */

static bool seen_before(const struct expr *e, u32 node)
{
	const struct node *n = &e->nodes[node];

	for (u32 i = 0; i < node; i++)
		if (e->nodes[i].op == OP_CALL &&
		    e->nodes[i].to - e->nodes[i].from == n->to - n->from &&
		    memcmp(e->text + e->nodes[i].from, e->text + n->from, n->to - n->from) == 0)
			return true;
	return false;
}

void expr_explain(const struct expr *e, const struct expr_env *env, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (u32 i = 0; i < e->nr && len < size; i++) {
		const struct node *n = &e->nodes[i];
		struct error err;
		s64 value;

		if (n->op != OP_CALL || seen_before(e, i))
			continue;
		len += (size_t)snprintf(buf + len, size - len, "%s%.*s is ", len ? ", " : "",
					(int)(n->to - n->from), e->text + n->from);
		if (len >= size)
			return;
		if (!eval(e, i, env, &value, &err))
			len += (size_t)snprintf(buf + len, size - len, "unknown");
		else
			len += (size_t)snprintf(buf + len, size - len,
						n->call->hex && value != -1 ? "0x%llx" : "%lld",
						(long long)value);
	}
}
