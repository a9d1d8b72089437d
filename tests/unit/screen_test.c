/* SPDX-License-Identifier: GPL-2.0-only */
/* What the explorer's screens say, and that they say it whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <vterm.h>

#include "bundled.h"
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

/* What a newcomer must find at 80x24, whatever the moment. */
static void test_screen_says_where(void **state)
{
	struct app *app = app_of(state);

	for (u32 tick = 0; tick <= end_of(app); tick += 7) {
		app_goto(app, tick);
		assert_shows(app, "arm64");
		assert_shows(app, "unbatched");
		assert_shows(app, "batched");
		assert_shows(app, "proposed");
		assert_shows(app, "step ");
		assert_shows(app, "tick ");
		assert_shows(app, "pte");
		assert_shows(app, "ref ");
		assert_shows(app, "map ");
		assert_shows(app, "swap");
		assert_shows(app, "tlb");
		assert_shows(app, "pte_read");
		assert_shows(app, "help");
	}
}

static void test_changes_are_marked(void **state)
{
	struct app *app = app_of(state);

	app_keys(app, "/refs_put\r");
	app_keys(app, ":until refcount(A) == 32\r");
	assert_shows(app, "*ref");
	assert_shows(app, "32 was 33");
	app_keys(app, ":view changed\r");
	assert_shows(app, "folio A.refcount 32 was 33");
	app_keys(app, "g]u:view pte\r");
	assert_shows(app, "bits, page");
}

/* A terminal that is sent the ANSI form shows the canvas, cell by cell. */
static void assert_terminal_shows(const struct canvas *c, const char *ansi)
{
	VTerm *vt = vterm_new((int)c->h, (int)c->w);
	VTermScreen *vs = vterm_obtain_screen(vt);

	vterm_set_utf8(vt, 1);
	vterm_screen_reset(vs, 1);
	for (; *ansi; ansi++) {
		if (*ansi == '\n' && !ansi[1])
			break;
		if (*ansi == '\n')
			vterm_input_write(vt, "\r", 1);
		vterm_input_write(vt, ansi, 1);
	}
	for (u32 i = 0; i < c->w * c->h; i++) {
		VTermPos pos = { .row = (int)(i / c->w), .col = (int)(i % c->w) };
		const struct style_info *style = &style_infos[c->cell[i].style];
		VTermScreenCell cell;

		assert_true(vterm_screen_get_cell(vs, pos, &cell));
		if (c->cell[i].rune == ' ')
			continue;
		assert_int_equal(cell.chars[0], c->cell[i].rune);
		assert_int_equal(cell.attrs.bold, !!(style->attrs & ATTR_BOLD));
		assert_int_equal(cell.attrs.reverse, !!(style->attrs & ATTR_REVERSE));
		assert_int_equal(cell.attrs.underline, !!(style->attrs & ATTR_UNDERLINE));
	}
	vterm_free(vt);
}

static void test_ansi_in_a_terminal(void **state)
{
	struct app *app = app_of(state);

	for (u32 i = 0; i < 40; i++) {
		struct canvas c;
		char *text = NULL;
		size_t size;
		FILE *f = open_memstream(&text, &size);

		app_keys(app, "17s");
		assert_true(canvas_init(&c, i % 2 ? 80 : 160, i % 2 ? 24 : 48));
		c.ascii = i % 3 == 0;
		app_draw(app, &c);
		canvas_print_ansi(&c, f, i % 4 < 2);
		fclose(f);
		assert_terminal_shows(&c, text);
		free(text);
		canvas_free(&c);
	}
}

/* A joint is drawn into a rule, never against a word. */
static void test_joints(void **state)
{
	static const u32 sizes[][2] = { { 80, 24 }, { 97, 30 }, { 120, 40 }, { 160, 48 } };
	struct app *app = app_of(state);
	u32 joints = 0;

	for (u32 k = 0; k < NR_OF(sizes); k++)
		for (u32 tick = 0; tick <= end_of(app); tick += 50) {
			struct canvas c;

			app_goto(app, tick);
			assert_true(canvas_init(&c, sizes[k][0], sizes[k][1]));
			app_draw(app, &c);
			for (u32 i = 1; i + 1 < c.w * c.h; i++) {
				u32 rune = c.cell[i].rune;

				if (rune != RUNE_TEE_UP && rune != RUNE_TEE_DOWN)
					continue;
				assert_int_equal(c.cell[i - 1].rune, RUNE_HLINE);
				assert_int_equal(c.cell[i + 1].rune, RUNE_HLINE);
				joints++;
			}
			canvas_free(&c);
		}
	assert_true(joints > 0);
}

static void test_totals(void **state)
{
	struct app *app = app_of(state);
	char *s, total[24];

	app_keys(app, "150s");
	s = screen(app, 160, 48);
	for (u32 i = 0; i < app->run->nr_lanes; i++) {
		snprintf(total, sizeof(total), "%u/%u", app->cursor[i].pos,
			 trace_nr_steps(app->cursor[i].trace));
		assert_non_null(strstr(strchr(s, '\n'), total));
	}
	free(s);
}

/* Nothing is "not yet" while it is being done. */
static void test_flush_line(void **state)
{
	struct app *app = app_of(state);
	u32 seen = 0;

	for (u32 i = 0; i < app->run->nr_lanes; i++) {
		char keys[80];

		snprintf(keys, sizeof(keys), ":lanes %s\rg", app->run->lanes[i].spec->name);
		app_keys(app, keys);
		while (app_next(app, app->tick, 1) != app->tick) {
			const struct cursor *c = &app->cursor[i];
			u32 event;

			app_key(app, 's');
			event = event_at(app, i);
			if (!state_task(c->live, 0)->ubc_flush_required)
				continue;
			if (event == EV_dsb_ish || event == EV_ipi_sent || event == EV_cr3_write) {
				assert_hides(app, "no DSB yet");
				assert_hides(app, "no IPI yet");
				seen++;
			} else if (event == EV_try_to_unmap_flush) {
				assert_shows(app, app->run->lanes[i].m.arch->pte->has_cont ?
					     "no DSB yet" : "no IPI yet");
				seen++;
			}
		}
	}
	assert_true(seen >= 2 * app->run->nr_lanes);
}

static void test_ratio(void **state)
{
	struct app *app = app_of(state);

	app_keys(app, "150G");
	assert_shows(app, " so far ");
	app_keys(app, "G");
	assert_hides(app, " so far ");
	assert_shows(app, " ratio ");
	assert_shows(app, " gone");
	assert_shows(app, "  2x");
}

static void test_before_and_outside(void **state)
{
	struct app *app = app_of(state);

	assert_shows(app, " before the first step");
	app_keys(app, "G");
	assert_int_equal(event_at(app, 0), EV_op_end);
	assert_shows(app, "outside the kernel");
}

/* The last word of a sentence and its reason is there, or the screen says that there is more. */
static void test_text_whole_or_marked(void **state)
{
	static const u32 sizes[][2] = { { 80, 24 }, { 64, 12 }, { 44, 10 }, { 120, 40 } };
	struct app *app = app_of(state);
	u32 marked = 0;

	app_keys(app, ":lanes arm64/unbatched\r");
	for (u32 pos = 1; pos < trace_nr_steps(app->cursor[0].trace); pos += 3)
		for (u32 k = 0; k < NR_OF(sizes); k++) {
			char text[512], *s, *word;
			const char *why;

			app_goto(app, align_tick(app->run->align, 0, pos));
			narrate(&app->cursor[0], &app->names, text, sizeof(text));
			why = narrate_why(&app->cursor[0]);
			word = strrchr(text, ' ');
			s = screen(app, sizes[k][0], sizes[k][1]);
			if (strstr(s, " t: more"))
				marked++;
			else if (!strstr(s, word + 1) ||
				 (*why && !strstr(s, strrchr(why, ' ') + 1)))
				fail_msg("no \"%s\" %s in\n%s", word, why, s);
			free(s);
		}
	assert_true(marked > 0);
}

/* A row of the text pane begins with it. */
static bool has_row(const char *screen, const char *label)
{
	char row[80];

	snprintf(row, sizeof(row), "\n %s ", label);
	return strstr(screen, row);
}

/* At 80x24 each lane has a row of text at least, whatever else there is to say. */
static void assert_every_lane_speaks(const struct app *app)
{
	struct lane_set set = { .app = app, .same_arch = true };
	char *s = screen(app, 80, 24);
	char *text = strstr(s, ": "), *rule;

	set.nr = app_shown(app, 80, set.lane);
	for (u32 i = 0; i < set.nr; i++)
		set.same_arch &= app->run->lanes[set.lane[i]].m.arch ==
				 app->run->lanes[set.lane[0]].m.arch;
	while ((rule = strstr(text, "\n\u2500")))
		text = rule + 1;
	for (u32 i = 0; i < set.nr && !has_row(text, "both"); i++)
		if (!has_row(text, lane_label(&set, i)))
			fail_msg("%s: no \"%s\" in\n%s", app->run->scenario->name,
				 lane_label(&set, i), s);
	free(s);
}

/* Notes are in sight when they are due, and those of a bundled scenario in full. */
static void assert_notes_fit(struct app *app)
{
	for (app_keys(app, "g]s"); !app->complaint; app_keys(app, "]s")) {
		u32 lane[MAX_SHOWN], nr = app_shown(app, 80, lane);

		for (u32 i = 0; i < nr; i++) {
			const char *said = app_said(app, lane[i], app->cursor[lane[i]].pos);

			if (!said || !app_moves(app, lane[i]))
				continue;
			assert_shows(app, "\n note ");
			if (said != app->run->lanes[lane[i]].invariant.text)
				assert_shows(app, strrchr(said, ' ') + 1);
			break;
		}
		assert_every_lane_speaks(app);
	}
}

static void test_texts_of_bundled(void **state)
{
	(void)state;
	for (u32 i = 0; i < nr_bundled_scenarios; i++) {
		char *file = bundled_or_small(i);
		struct explorer *e = explorer_open(file);

		assert_notes_fit(&e->app);
		for (u32 tick = 1; tick <= end_of(&e->app) && tick < 2000; tick += 3) {
			app_goto(&e->app, tick);
			app_settle(&e->app);
			assert_every_lane_speaks(&e->app);
		}
		explorer_close(e);
		free(file);
	}
}

static void test_notes(void **state)
{
	struct app *app = app_of(state);
	u32 notes = 0;

	while (!app->complaint) {
		app_keys(app, "]s");
		if (app->complaint)
			break;
		assert_shows(app, "\n note ");
		app_key(app, 't');
		assert_true(app->zoom && app->focus == PANE_text);
		assert_shows(app, "\n note ");
		assert_hides(app, "more");
		app_key(app, 't');
		assert_false(app->zoom);
		notes++;
	}
	assert_true(notes > 2);
	app_keys(app, "g");
	assert_shows(app, "\n note ");	/* what the scenario is about */
	app_keys(app, "s");
	assert_hides(app, "\n note ");
}

/* Ranges and values as `folioscope pte` has them, also of fields stored inverted. */
static void test_bits(void **state)
{
	struct app *app = app_of(state);
	char *s;

	app_keys(app, ":lanes x86_64/batched\r:until swap_pte(app, 0x7f0000010000)\r:view pte\r");
	assert_false(app->complaint);
	s = screen(app, 100, 40);
	assert_non_null(strstr(s, "58:9   ~offset   0x200"));
	assert_non_null(strstr(s, "1      SoftDirty 1"));
	free(s);
}

static void test_help_is_whole(void **state)
{
	struct app *app = app_of(state);
	char *s, *end;

	app_key(app, '?');
	s = screen(app, 80, 200);
	for (u32 i = 0; i < nr_key_infos; i++)
		if (*key_infos[i].text)
			assert_non_null(strstr(s, strrchr(key_infos[i].text, ' ') ?
						  strrchr(key_infos[i].text, ' ') :
						  key_infos[i].text));
	for (u32 i = 0; i < nr_event_kinds; i++)
		assert_non_null(strstr(s, strrchr(event_kinds[i].text, ' ') + 1));
	for (u32 i = 0; i < nr_command_infos; i++)
		assert_non_null(strstr(s, strrchr(command_infos[i].text, ' ') ?
					  strrchr(command_infos[i].text, ' ') + 1 :
					  command_infos[i].text));
	for (u32 i = 0; i < NR_PANES; i++)
		assert_non_null(strstr(s, strrchr(panes[i].text, ' ') + 1));
	for (char *line = s; (end = strchr(line, '\n')); line = end + 1)
		assert_true(end - line < 3 || strncmp(end - 2, "..", 2) != 0);
	free(s);
}

/* Bookkeeping is left out where rows are few, and there when asked for. */
static void test_changes_that_teach(void **state)
{
	struct app *app = app_of(state);
	u32 internals = 0;
	char *s;

	app_keys(app, ":lanes arm64/unbatched\r:until count(walk_step) > 0\r");
	assert_false(app->complaint);
	for (u32 i = 0; i < 100; i++) {
		s = screen(app, 120, 40);
		assert_null(strstr(s, "task0.walk_"));
		free(s);
		app_keys(app, ":view changed\r");
		s = screen(app, 120, 40);
		internals += strstr(s, "task0.walk_") != NULL;
		free(s);
		app_keys(app, ":view\rs");
	}
	assert_true(internals > 0);
}

/* A scenario of the test's own; what is placed stands in folios and maps. */
static void open_world(struct run *run, struct app *app, const char *folios, const char *maps,
		       u32 pages)
{
	static const char form[] =
		"{\"$schema\": \"scenario-1.json\", \"title\": \"T\", \"summary\": \"S.\","
		" \"level\": \"core\", \"machine\": {\"cpus\": 2,"
		"  \"swap\": [{\"id\": \"zram0\", \"kind\": \"sync\", \"slots\": 1024}]},"
		" \"world\": {\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}],"
		"  \"folios\": [%s], \"maps\": [%s]},"
		" \"script\": [{\"cpu\": 0, \"do\": \"madvise_pageout\", \"mm\": \"app\","
		"              \"va\": \"0x7f0000010000\", \"pages\": %u}]}";
	struct scenario *s;
	struct error err;
	char json[1400];

	snprintf(json, sizeof(json), form, folios, maps, pages);
	s = scenario_load("test.json", json, strlen(json), &err);
	if (!s)
		fail_msg("%s", err.text);
	if (!run_scenario(run, s, RUN_RECORD, false, &err))
		fail_msg("%s", err.text);
	assert_true(app_open(app, run));
}

static void close_world(struct run *run, struct app *app)
{
	struct scenario *s = run->scenario;

	app_close(app);
	run_free(run);
	scenario_free(s);
}

/* What an earlier flush has dealt with is not noted any more. */
static void test_flush_after_flush(void **state)
{
	struct run run;
	struct app app;
	u32 flushes = 0, noted = 0;

	(void)state;
	open_world(&run, &app,
		   "{\"id\": \"A\", \"order\": 2, \"pfn\": \"0x12340\"},"
		   "{\"id\": \"B\", \"order\": 2, \"pfn\": \"0x12350\"}",
		   "{\"mm\": \"app\", \"va\": \"0x7f0000010000\", \"folio\": \"A\"},"
		   "{\"mm\": \"app\", \"va\": \"0x7f0000014000\", \"folio\": \"B\"}", 8);
	app_keys(&app, ":lanes arm64/unbatched\r");
	while (app_next(&app, app.tick, 1) != app.tick) {
		char text[24];
		u32 event;

		app_key(&app, 's');
		event = event_at(&app, 0);
		noted = event == EV_tlb_flush_done ? 0 : noted + (event == EV_tlb_flush_pending);
		flushes += event == EV_tlb_flush_done;
		snprintf(text, sizeof(text), "flush %u noted", noted);
		if (event == EV_tlb_flush_pending)
			assert_shows(&app, text);
		else if (event == EV_tlb_flush_done)
			assert_shows(&app, "flush nothing pending");
	}
	assert_int_equal(flushes, 2);
	close_world(&run, &app);
}

static void assert_sum(const char *order, const char *pins, const char *refs, const char *sum)
{
	struct run run;
	struct app app;
	char folio[160];

	snprintf(folio, sizeof(folio), "{\"id\": \"A\", \"order\": %s, \"pfn\": \"0x12340\","
		 " \"pins\": %s, \"refs\": %s}", order, pins, refs);
	open_world(&run, &app, folio,
		   "{\"mm\": \"app\", \"va\": \"0x7f0000010000\", \"folio\": \"A\"}", 1);
	app.nr_lanes = 1;
	assert_shows(&app, sum);
	close_world(&run, &app);
}

static void test_pins(void **state)
{
	(void)state;
	assert_sum("4", "1", "0", "ref 17 = 16 maps + 1 pin\n");
	assert_sum("4", "2", "1", "ref 19 = 16 maps + 2 pins + 1 other ref\n");
	assert_sum("4", "0", "2", "ref 18 = 16 maps + 2 other refs\n");
	assert_sum("0", "1", "0", "ref 1025 = 1 map + 1024 of 1 pin\n");
	assert_sum("0", "2", "1", "ref 2050 = 1 map + 2048 of 2 pins + 1 other ref\n");
}

/* A huge PMD is one row; invalidating it changes one bit; its page table is seen in the making. */
static void test_huge_pmd(void **state)
{
	struct explorer *e = explorer_open("swapout-thp --lanes x86_64/batched --view pte");
	struct app *app = &e->app;

	(void)state;
	assert_shows(app, "0..511 huge pfn 0x12400 RW young dirty soft-dirty");
	assert_shows(app, "[512]");
	app_keys(app, "/pmd_invalidated\r");
	assert_shows(app, "inv pfn 0x12400 RW D A S was pfn 0x12400 RW D A S");
	assert_shows(app, "*bits, PMD 0..511 0x800fffffeda008e6 was 0x80000000124008e7");
	assert_shows(app, "*0      P         0 was 1");
	assert_shows(app, " 51:21  ~pfn>>9   0x92 ");
	assert_hides(app, "0x92 was");
	app_keys(app, ":view folio\r");
	assert_shows(app, "1..511     0     -  invalid");
	app_keys(app, ":view pte\r/pte_set\r");
	assert_shows(app, "0..511 invalid huge pfn 0x12400");
	assert_shows(app, "pfn 0x12400 RW D A S was none");
	app_keys(app, "/pmd_populated\r");
	assert_hides(app, "[512]");
	assert_shows(app, "0..511 pfn 0x12400 RW young dirty soft-dirty");
	explorer_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define APP_TEST(name) cmocka_unit_test_setup_teardown(name, open_app, close_app)
		APP_TEST(test_screen_says_where),
		APP_TEST(test_changes_are_marked),
		APP_TEST(test_ansi_in_a_terminal),
		APP_TEST(test_joints),
		APP_TEST(test_totals),
		APP_TEST(test_flush_line),
		APP_TEST(test_ratio),
		APP_TEST(test_before_and_outside),
		APP_TEST(test_text_whole_or_marked),
		APP_TEST(test_notes),
		cmocka_unit_test(test_texts_of_bundled),
		APP_TEST(test_bits),
		APP_TEST(test_help_is_whole),
		APP_TEST(test_changes_that_teach),
		cmocka_unit_test(test_flush_after_flush),
		cmocka_unit_test(test_pins),
		cmocka_unit_test(test_huge_pmd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
