/* SPDX-License-Identifier: GPL-2.0-only */
/* The explorer without a terminal: keys in, where it stands and what it shows out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "explore.h"
#include "explorer.h"
#include "pane.h"

static int open_app(void **state)
{
	*state = explorer_open("swapout-64k");
	return 0;
}

static int close_app(void **state)
{
	explorer_close(*state);
	return 0;
}

static struct app *app_of(void **state)
{
	return &((struct explorer *)*state)->app;
}

static void test_tables(void **state)
{
	(void)state;
	for (u32 i = 0; i < nr_key_infos; i++) {
		assert_true(i > 0 || *key_infos[i].text);
		assert_true(*key_infos[i].text || key_infos[i].act == key_infos[i - 1].act);
		assert_false(key_infos[i].key >= '0' && key_infos[i].key <= '9');
		for (u32 k = 0; k < i; k++)
			assert_int_not_equal(key_infos[i].key, key_infos[k].key);
	}
	for (u32 i = 0; i < nr_command_infos; i++)
		for (u32 k = 0; k < i; k++)
			assert_string_not_equal(command_infos[i].name, command_infos[k].name);
	for (u32 i = 0; i < NR_PANES; i++)
		assert_true(!panes[i].draw != !panes[i].draw_wide);
}

/* Each step moves a lane that is shown, and stepping back visits the same moments. */
static void step_and_back(struct app *app)
{
	u32 nr = 0, max = end_of(app) + 1;
	u32 *visited = calloc(max, sizeof(*visited));

	app_key(app, 'g');
	while (app_next(app, app->tick, 1) != app->tick) {
		assert_true(nr < max);
		visited[nr++] = app->tick;
		app_key(app, 's');
		assert_true(app->tick > visited[nr - 1]);
		assert_true(app_moves_any(app, app->tick));
	}
	while (nr) {
		app_key(app, 'b');
		assert_int_equal(app->tick, visited[--nr]);
	}
	free(visited);
}

static void test_step_and_back(void **state)
{
	struct app *app = app_of(state);

	step_and_back(app);
	app_keys(app, ":lanes x86*\r");
	step_and_back(app);
	app_keys(app, ":lanes arm64/batched\r");
	step_and_back(app);
}

static void test_back_shows_the_same(void **state)
{
	struct app *app = app_of(state);
	char *before, *after;

	app_keys(app, "150s");
	before = screen(app, 120, 40);
	app_keys(app, "37s37b");
	after = screen(app, 120, 40);
	assert_string_equal(before, after);
	free(before);
	free(after);
}

static void test_counts(void **state)
{
	struct app *app = app_of(state);
	u32 tick;

	for (u32 i = 0; i < 12; i++)
		app_key(app, 's');
	tick = app->tick;
	app_keys(app, "g12s");
	assert_int_equal(app->tick, tick);
	app_keys(app, "100G");
	assert_int_equal(app->cursor[0].pos, 100);
	assert_shows(app, "step 100/");
	app_keys(app, "12");
	assert_int_equal(app->count, 12);
	app_key(app, K_ESC);
	assert_int_equal(app->count, 0);
	app_key(app, 'G');
	assert_int_equal(app->tick, end_of(app));
	app_keys(app, "99999999999999999s");
	assert_int_equal(app->tick, end_of(app));
	app_keys(app, "99999999999999999b");
	assert_int_equal(app->tick, 0);
}

static void test_pages_and_phases(void **state)
{
	struct app *app = app_of(state);
	const struct align *a = app->run->align;

	while (align_group(a, app->tick).phase != PHASE_unmap)
		app_key(app, '}');
	app_key(app, 'n');
	for (u32 page = 1; page < 4; page++) {
		char text[32];

		app_key(app, 'n');
		snprintf(text, sizeof(text), "page %u of 0..15 ", page);
		assert_shows(app, text);
	}
	app_key(app, 'p');
	assert_shows(app, "page 2 of 0..15 ");
	app_key(app, '}');
	assert_int_equal(align_group(a, app->tick).phase, PHASE_flush);
	app_key(app, '{');
	assert_int_equal(align_group(a, app->tick).phase, PHASE_unmap);
}

static void test_marks_and_jumps(void **state)
{
	struct app *app = app_of(state);

	app_keys(app, "50Gma");
	app_keys(app, "200G'a");
	assert_int_equal(app->cursor[0].pos, 50);
	app_keys(app, "''");
	assert_int_equal(app->cursor[0].pos, 200);
	app_keys(app, "''");
	assert_int_equal(app->cursor[0].pos, 50);
	app_keys(app, "300G400G");
	app_key(app, K_CTRL('o'));
	assert_int_equal(app->cursor[0].pos, 300);
	app_keys(app, "'z");
	assert_true(app->complaint);
	assert_int_equal(app->cursor[0].pos, 300);
	for (u32 i = 0; i < 3 * MAX_JUMPS; i++)
		app_keys(app, i % 2 ? "10G" : "20G");
	assert_int_equal(app->nr_jumps, MAX_JUMPS);
}

static void test_kinds(void **state)
{
	struct app *app = app_of(state);
	u32 tick;

	app_keys(app, "]u");
	assert_int_equal(event_at(app, 0), EV_contpte_unfolded);
	tick = app->tick;
	app_keys(app, "]u");
	assert_true(app->complaint);
	assert_shows(app, "No further unfold or fold after this step.");
	assert_int_equal(app->tick, tick);
	app_keys(app, "]w[u");
	assert_int_equal(app->tick, tick);
	app_keys(app, "]r");
	assert_shows(app, "ref");
	app_keys(app, "]?");
	assert_true(app->complaint);
	app_key(app, ']');
	app_key(app, K_ESC);
	assert_false(app->complaint);
}

/* ]e passes over steps that are alike in each lane shown, and stops at the first that is not. */
static void test_other_event(void **state)
{
	struct app *app = app_of(state);
	u32 passed = 0;

	while (!app->complaint) {
		u32 before = app->tick;
		u32 event[] = { event_at(app, 0), event_at(app, 1) };
		bool other = false;

		app_keys(app, "]e");
		for (u32 tick = before + 1; tick <= app->tick; tick++) {
			assert_false(other);
			for (u32 i = 0; i < 2; i++)
				other |= align_moves(app->run->align, tick, i) &&
					 trace_step(app->run->lanes[i].trace,
						    align_pos(app->run->align, tick, i) - 1)->event
					 != event[i];
			passed += !other && app_moves_any(app, tick);
		}
		assert_true(other || app->complaint);
	}
	assert_true(passed > 20);
	assert_int_equal(app_next(app, app->tick, 1), app->tick);
	app_keys(app, "[e");
	assert_false(app->complaint);
}

static bool same_step(const struct app *app)
{
	const struct step *a = cursor_step(&app->cursor[0]), *b = cursor_step(&app->cursor[1]);

	return app_moves(app, 0) && app_moves(app, 1) && a->event == b->event &&
	       a->page == b->page && a->arg == b->arg;
}

static void test_divergence(void **state)
{
	struct app *app = app_of(state);
	u32 tick, first;

	app_keys(app, "]d");
	first = tick = app->tick;
	assert_true(app_moves_any(app, tick));
	assert_false(same_step(app));
	app_key(app, 'b');
	while (app->tick) {
		assert_true(same_step(app));
		app_key(app, 'b');
	}
	app_keys(app, "G[d");
	assert_true(app->tick >= first);
	assert_false(same_step(app));
	app_goto(app, app->tick - 1);
	assert_true(same_step(app));
	while (!app->complaint) {
		tick = app->tick;
		assert_true(app_moves_any(app, tick));
		app_keys(app, "[d");
	}
	assert_true(tick == first);
}

/* Lanes that are not shown do not count: the same moments with and without them. */
static void test_divergence_alone(void **state)
{
	struct app *app = app_of(state);
	struct explorer *alone = explorer_open("swapout-64k --lanes arm64/*");

	while (!app->complaint) {
		app_keys(app, "]d");
		app_keys(&alone->app, "]d");
		for (u32 i = 0; i < 2; i++)
			assert_int_equal(app->cursor[i].pos, alone->app.cursor[i].pos);
	}
	assert_true(app->tick > 0 && alone->app.complaint);
	explorer_close(alone);
}

static void test_search(void **state)
{
	struct app *app = app_of(state);
	u32 first, second;

	app_keys(app, "/PTE of page 3 of A\r");
	first = app->tick;
	assert_true(first > 0);
	app_key(app, 'n');
	second = app->tick;
	assert_true(second > first);
	app_key(app, 'N');
	assert_int_equal(app->tick, first);
	app_keys(app, "/no such thing\r");
	assert_true(app->complaint);
	assert_int_equal(app->tick, first);
	app_key(app, K_ESC);
	app_key(app, 'n');
	assert_false(app->complaint);
	app_keys(app, "g/TRY_TO_UNMAP_ONE\r");
	assert_int_equal(event_at(app, 0), EV_try_to_unmap_one);
}

static void test_commands(void **state)
{
	struct app *app = app_of(state);

	app_keys(app, ":arm64/batched:90\r");
	assert_int_equal(app->cursor[1].pos, 90);
	app_keys(app, ":goto end\r");
	assert_int_equal(app->cursor[0].pos, trace_nr_steps(app->run->lanes[0].trace));
	app_keys(app, ":goto 0%\r");
	assert_int_equal(app->tick, 0);
	app_keys(app, ":goto nowhere:12\r");
	assert_true(app->complaint);
	app_keys(app, ":until refcount(A) == 20\r");
	assert_int_equal(state_folio(app->cursor[0].live, 0)->refcount, 20);
	app_keys(app, ":until refcount(\r");
	assert_true(app->complaint);
	app_keys(app, ":view tlb\r");
	assert_true(app->zoom);
	assert_int_equal(app->focus, PANE_tlb);
	app_keys(app, ":view\r");
	assert_false(app->zoom);
	app_keys(app, ":unitl 1\r");
	assert_non_null(strstr(app->message, "until"));
	app_keys(app, ":\r");
	assert_false(app->complaint);
	assert_true(app_keys(app, ":q\r") & EFFECT_QUIT);
}

static void test_line_editing(void **state)
{
	struct app *app = app_of(state);

	app_keys(app, ":vi\t");
	assert_string_equal(app->line, "view ");
	app_keys(app, "fo\t");
	assert_string_equal(app->line, "view folio");
	app_key(app, K_CTRL('w'));
	assert_string_equal(app->line, "view ");
	app_key(app, K_CTRL('u'));
	assert_string_equal(app->line, "");
	app_key(app, 0xe9);
	app_key(app, K_BACKSPACE);
	assert_string_equal(app->line, "");
	app_keys(app, "lanes arm\t");
	assert_string_equal(app->line, "lanes arm64/");
	for (u32 i = 0; i < 2 * MAX_LINE; i++)
		app_key(app, 0xe9);
	assert_true(app->line_len < MAX_LINE);
	app_key(app, K_ESC);
	assert_int_equal(app->mode, MODE_KEYS);
}

static void test_lanes(void **state)
{
	struct app *app = app_of(state);
	u32 lane[MAX_SHOWN];

	assert_int_equal(app_shown(app, 80, lane), 2);
	assert_int_equal(app_shown(app, 160, lane), 4);
	assert_int_equal(app_shown(app, 20, lane), 1);
	app_key(app, 'l');
	assert_int_equal(app_shown(app, 80, lane), 2);
	assert_int_equal(lane[0], 2);
	assert_int_equal(lane[1], 3);
	app_keys(app, ":lanes */batched\r");
	assert_int_equal(app_shown(app, 80, lane), 2);
	assert_int_equal(lane[0], 1);
	assert_int_equal(lane[1], 3);
	app_keys(app, ":lanes nothing\r");
	assert_true(app->complaint);
	app_keys(app, ":lanes arm64/batched,arm64/*\r");
	assert_int_equal(app_shown(app, 80, lane), 2);
	assert_int_equal(lane[0], 1);
	assert_int_equal(lane[1], 0);
}

/* No key leads to a tick at which all lanes shown wait; they stay where they are instead. */
static void test_never_all_waiting(void **state)
{
	static const char *const lanes[] = {
		"x86_64/batched", "arm64/batched", "x86*", "*/batched",
	};
	struct app *app = app_of(state);
	u32 lane[MAX_SHOWN];

	for (u32 tick = 1; tick <= end_of(app); tick++)
		for (u32 i = 0; i < NR_OF(lanes); i++) {
			char keys[40];
			u32 nr;

			app_goto(app, tick);
			snprintf(keys, sizeof(keys), ":lanes %s\r", lanes[i]);
			app_keys(app, keys);
			nr = app_shown(app, 80, lane);
			assert_true(app_moves_any(app, app->tick) || !app->tick);
			while (nr--)
				assert_int_equal(app->cursor[lane[nr]].pos,
						 align_pos(app->run->align, tick, lane[nr]));
			app_keys(app, "l");
			assert_true(app_moves_any(app, app->tick) || !app->tick);
		}
	app_keys(app, ":lanes arm64/*\r");
	for (u32 pos = 1; pos < 200; pos++) {
		char keys[40];

		snprintf(keys, sizeof(keys), ":x86_64/unbatched:%u\r", pos);
		app_keys(app, keys);
		assert_true(app_moves_any(app, app->tick) || !app->tick);
	}
}

static void test_play(void **state)
{
	struct app *app = app_of(state);

	assert_int_equal(app_tick(app, 1000), 0);
	app_key(app, ' ');
	assert_true(app->playing);
	assert_int_equal(app_tick(app, 1), 0);
	assert_true(app_tick(app, 1000) & EFFECT_REDRAW);
	assert_int_equal(app->tick, 1);
	app_key(app, '+');
	app_keys(app, ":goto 99%\r");
	while (app->playing)
		app_tick(app, 1000);
	assert_int_equal(app->tick, end_of(app));
}

/* All but the rows that tell of all lanes: the ticks and the track. */
static const char *below_track(const char *text)
{
	return strchr(strchr(text, '\n') + 1, '\n') + 1;
}

/* What y names opens the same lanes at the same steps. */
static void assert_reopens(struct app *app)
{
	struct explorer *again;
	char *before, *after;

	assert_true(app_key(app, 'y') & EFFECT_COPY);
	assert_true(strncmp(app->copied, "folioscope ", 11) == 0);
	again = explorer_open(app->copied + 11);
	app_key(app, K_CTRL('l'));
	again->app.focus = app->focus;
	before = screen(app, 80, 24);
	after = screen(&again->app, 80, 24);
	if (strcmp(below_track(before), below_track(after)) != 0)
		fail_msg("%s\n%s\n%s", app->copied, before, after);
	free(before);
	free(after);
	explorer_close(again);
}

static void test_reopen(void **state)
{
	static const char *const settings[] = {
		"", ":lanes x86*\r", ":lanes */batched\r",
		":lanes x86_64/batched,arm64/unbatched\r", ":lanes arm64/batched\r",
		":lanes\rl", ":lanes *\r", ":lanes\r:view tlb\r", "l:view counts\r",
	};
	struct app *app = app_of(state);

	for (u32 i = 0; i < NR_OF(settings); i++) {
		app_keys(app, settings[i]);
		for (u32 k = 0; k < 12; k++) {
			app_keys(app, k % 3 ? "23s" : "}");
			assert_reopens(app);
		}
		app_keys(app, "g");
		assert_reopens(app);
	}
}

static void test_reopen_narrowed(void **state)
{
	struct explorer *e = explorer_open("unmap-64k --lanes */batched --feature tlbi_range=off");

	(void)state;
	app_keys(&e->app, "40s");
	assert_reopens(&e->app);
	app_keys(&e->app, ":lanes x86*\r30s");
	assert_reopens(&e->app);
	app_keys(&e->app, "l");
	assert_reopens(&e->app);
	explorer_close(e);
}

static u32 next_random(u64 *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(*seed >> 33);
}

/* Any keys at any size: nothing breaks, drawing changes nothing, and q always leaves. */
static void test_any_key_any_size(void **state)
{
	struct app *app = app_of(state);
	u64 seed = 7;

	for (u32 i = 0; i < 6000; i++) {
		u32 w = 1 + next_random(&seed) % 200, h = 1 + next_random(&seed) % 60;
		u32 key = next_random(&seed) % 3 ? key_infos[next_random(&seed) % nr_key_infos].key
						 : ' ' + next_random(&seed) % 95;
		struct canvas c;
		struct app before;

		app_resize(app, w, h);
		app_key(app, key);
		assert_true(canvas_init(&c, w, h));
		c.ascii = i % 2;
		before = *app;
		app_draw(app, &c);
		assert_memory_equal(&before, app, sizeof(before));
		for (u32 k = 0; k < w * h; k++) {
			assert_true(c.cell[k].rune >= ' ' && c.cell[k].rune != 0x7f);
			assert_true(c.cell[k].style < NR_STYLES);
			assert_true(!c.ascii || c.cell[k].rune < 0x7f);
		}
		assert_true(c.cursor_x < w && c.cursor_y < h);
		canvas_free(&c);
	}
	for (u32 i = 0; i < 4; i++)
		app_key(app, K_ESC);
	assert_true(app_key(app, 'q') & EFFECT_QUIT);
}

static void test_every_size(void **state)
{
	struct app *app = app_of(state);
	u32 last_pane = app->focus;

	app_keys(app, "150G");
	for (u32 w = 1; w <= 200; w += w < 90 ? 1 : 7)
		for (u32 h = 1; h <= 60; h += h < 26 ? 1 : 5) {
			struct canvas c;

			app_resize(app, w, h);
			app_key(app, '\t');
			app->zoom = (w + h) % 3 == 0;
			assert_true(canvas_init(&c, w, h));
			app_draw(app, &c);
			canvas_free(&c);
		}
	assert_true(last_pane < NR_PANES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
#define APP_TEST(name) cmocka_unit_test_setup_teardown(name, open_app, close_app)
		APP_TEST(test_step_and_back),
		APP_TEST(test_back_shows_the_same),
		APP_TEST(test_counts),
		APP_TEST(test_pages_and_phases),
		APP_TEST(test_marks_and_jumps),
		APP_TEST(test_kinds),
		APP_TEST(test_other_event),
		APP_TEST(test_divergence),
		APP_TEST(test_divergence_alone),
		APP_TEST(test_search),
		APP_TEST(test_commands),
		APP_TEST(test_line_editing),
		APP_TEST(test_lanes),
		APP_TEST(test_never_all_waiting),
		APP_TEST(test_play),
		APP_TEST(test_reopen),
		cmocka_unit_test(test_reopen_narrowed),
		APP_TEST(test_any_key_any_size),
		APP_TEST(test_every_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
