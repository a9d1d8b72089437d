/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "explore.h"
#include "pane.h"

#define MAX_COUNT 100000000u
#define MAX_SPEED 50

static void remember(struct app *app, u32 from)
{
	if (from == app->tick)
		return;
	if (app->nr_jumps == MAX_JUMPS)
		memmove(app->jump, app->jump + 1, --app->nr_jumps * sizeof(*app->jump));
	app->jump[app->nr_jumps++] = from;
}

void app_jump(struct app *app, u32 tick)
{
	u32 from = app->tick;

	app_goto(app, tick);
	remember(app, from);
}

void app_jump_to_step(struct app *app, u32 lane, u32 pos)
{
	u32 from = app->tick;

	app_goto_step(app, lane, pos);
	remember(app, from);
}

static u32 times(u32 count)
{
	return count ? count : 1;
}

static u32 act_step(struct app *app, u32 count)
{
	u32 tick = app->tick, next;

	if (!app_has_next(app))
		app_say(app, "This is the end. b steps back.");
	for (u32 i = 0; i < times(count); i++, tick = next) {
		next = app_next(app, tick, 1);
		if (next == tick)
			break;
	}
	app_goto(app, tick);
	return EFFECT_REDRAW;
}

static u32 act_back(struct app *app, u32 count)
{
	u32 tick = app->tick;

	if (tick == 0)
		app_say(app, "This is the beginning. s steps forward.");
	for (u32 i = 0; i < times(count) && tick; i++)
		tick = app_next(app, tick, -1);
	app_goto(app, tick);
	return EFFECT_REDRAW;
}

/* The nearest tick that is about something else than key, in whatever window; NONE: none. */
static u32 find_other(struct app *app, u32 tick, int dir, enum align_by by,
		      struct align_group key)
{
	u32 other;

	while ((other = align_other(app->run->align, tick, dir, by, &key)) == NONE &&
	       app_turn(app, dir))
		tick = dir > 0 ? align_first_tick(app->run->align) :
				 align_last_tick(app->run->align) + 1;
	return other;
}

/* To the first tick of the next or previous stretch that is about one page, or one phase. */
static void leave_stretch(struct app *app, int dir, enum align_by by)
{
	u32 tick = find_other(app, app->tick, dir, by, align_group(app->run->align, app->tick));

	if (dir > 0 || tick == NONE) {
		app_goto(app, dir > 0 ? tick : 0);
		return;
	}
	tick = find_other(app, tick, dir, by, align_group(app->run->align, tick));
	if (tick != NONE && tick == align_last_tick(app->run->align) && app_turn(app, 1))
		tick = align_first_tick(app->run->align);
	app_goto(app, tick == NONE ? 1 : tick + 1);
}

/* By pages or phases; those that no lane shown goes through are passed over. */
static u32 stride(struct app *app, u32 count, int dir, enum align_by by)
{
	for (u32 left = times(count), from = NONE; left && app->tick != from;) {
		from = app->tick;
		leave_stretch(app, dir, by);
		left -= app_moves_any(app, app->tick);
	}
	return EFFECT_REDRAW;
}

static u32 match(struct app *app, u32 count, int dir)
{
	bool limited = false;
	u32 from = app->tick;
	u32 tick = NONE;

	for (u32 i = 0; i < times(count); i++) {
		tick = find_pattern(app, dir, &limited);
		if (tick == NONE)
			break;
		app_goto(app, tick);
	}
	if (tick == NONE)
		app_complain(app, "No %s match for /%s%s. Esc ends the search.",
			     dir > 0 ? "further" : "earlier", app->pattern,
			     limited ? " within reach" : "");
	app_goto(app, app->tick);
	remember(app, from);
	return EFFECT_REDRAW;
}

static u32 act_page(struct app *app, u32 count)
{
	return *app->pattern ? match(app, count, 1) : stride(app, count, 1, ALIGN_PAGE);
}

static u32 act_page_back(struct app *app, u32 count)
{
	return stride(app, count, -1, ALIGN_PAGE);
}

static u32 act_match_back(struct app *app, u32 count)
{
	if (*app->pattern)
		return match(app, count, -1);
	app_say(app, "N goes to the previous match of a search; / begins one.");
	return EFFECT_REDRAW;
}

static u32 act_phase(struct app *app, u32 count)
{
	return stride(app, count, 1, ALIGN_PHASE);
}

static u32 act_phase_back(struct app *app, u32 count)
{
	return stride(app, count, -1, ALIGN_PHASE);
}

static u32 act_goto_step(struct app *app, u32 count)
{
	u32 lane[MAX_SHOWN];

	app_shown(app, app->w, lane);
	if (count)
		app_jump_to_step(app, lane[0], count);
	else
		app_jump(app, UINT32_MAX);
	return EFFECT_REDRAW;
}

static u32 act_goto_start(struct app *app, u32 count)
{
	if (count)
		return act_goto_step(app, count);
	app_jump(app, 0);
	return EFFECT_REDRAW;
}

static u32 act_play(struct app *app, u32 count)
{
	if (count)
		app->speed = count < MAX_SPEED ? count : MAX_SPEED;
	app->playing = !app->playing && app_has_next(app);
	app->elapsed = 0;
	return EFFECT_REDRAW;
}

static u32 act_faster(struct app *app, u32 count)
{
	app->speed = app->speed * 2 < MAX_SPEED ? app->speed * 2 : MAX_SPEED;
	app_say(app, "Play: %" PRIu32 " steps a second", app->speed);
	(void)count;
	return EFFECT_REDRAW;
}

static u32 act_slower(struct app *app, u32 count)
{
	app->speed = app->speed > 1 ? app->speed / 2 : 1;
	app_say(app, "Play: %" PRIu32 " step%s a second", app->speed, app->speed > 1 ? "s" : "");
	(void)count;
	return EFFECT_REDRAW;
}

static u32 act_undo_jump(struct app *app, u32 count)
{
	(void)count;
	if (app->nr_jumps)
		app_goto(app, app->jump[--app->nr_jumps]);
	else
		app_say(app, "No jump to undo.");
	return EFFECT_REDRAW;
}

static u32 act_lanes(struct app *app, u32 count)
{
	u32 lane[MAX_SHOWN];
	u32 nr;

	(void)count;
	app->nr_lanes = 0;
	nr = app_shown(app, app->w, lane);
	app->first_lane = nr < app->run->nr_lanes ? (app->first_lane + nr) % app->run->nr_lanes : 0;
	app_settle(app);
	return EFFECT_REDRAW;
}

static u32 move_focus(struct app *app, u32 by)
{
	app->focus = (enum pane_id)((app->focus + by) % NR_PANES);
	app->scroll = 0;
	app_say(app, "Pane %s: %s. z zooms it.", panes[app->focus].name, panes[app->focus].text);
	return EFFECT_REDRAW;
}

static u32 act_next_pane(struct app *app, u32 count)
{
	return move_focus(app, times(count) % NR_PANES);
}

static u32 act_previous_pane(struct app *app, u32 count)
{
	return move_focus(app, NR_PANES - times(count) % NR_PANES);
}

static u32 act_zoom(struct app *app, u32 count)
{
	(void)count;
	app->zoom = !app->zoom;
	app->scroll = 0;
	return EFFECT_REDRAW;
}

static u32 act_whole_text(struct app *app, u32 count)
{
	(void)count;
	app_view(app, app->zoom && app->focus == PANE_text ? "" : "text");
	return EFFECT_REDRAW;
}

static u32 act_scroll_down(struct app *app, u32 count)
{
	if (app->zoom && app->scroll < MAX_COUNT)
		app->scroll += times(count) < MAX_COUNT ? times(count) : MAX_COUNT;
	return EFFECT_REDRAW;
}

static u32 act_scroll_up(struct app *app, u32 count)
{
	app->scroll -= times(count) < app->scroll ? times(count) : app->scroll;
	return EFFECT_REDRAW;
}

static u32 type_line(struct app *app, enum mode mode)
{
	app->mode = mode;
	app->line[0] = '\0';
	app->line_len = 0;
	return EFFECT_REDRAW;
}

static u32 act_search(struct app *app, u32 count)
{
	(void)count;
	return type_line(app, MODE_SEARCH);
}

static u32 act_command(struct app *app, u32 count)
{
	(void)count;
	return type_line(app, MODE_COMMAND);
}

static u32 act_copy(struct app *app, u32 count)
{
	(void)count;
	app_reopen(app, app->copied, sizeof(app->copied));
	app_say(app, "%s", app->copied);
	return EFFECT_REDRAW | EFFECT_COPY;
}

static u32 act_help(struct app *app, u32 count)
{
	(void)count;
	app->mode = MODE_HELP;
	app->scroll = 0;
	return EFFECT_REDRAW;
}

static u32 act_redraw(struct app *app, u32 count)
{
	(void)app, (void)count;
	return EFFECT_REDRAW | EFFECT_REPAINT;
}

static u32 act_suspend(struct app *app, u32 count)
{
	(void)count;
	app->playing = false;
	return EFFECT_SUSPEND | EFFECT_REDRAW;
}

static u32 act_quit(struct app *app, u32 count)
{
	(void)app, (void)count;
	return EFFECT_QUIT;
}

/* One thing at a time, the most recent first. */
static u32 act_escape(struct app *app, u32 count)
{
	if (count)
		return EFFECT_REDRAW;
	if (app->playing)
		app->playing = false;
	else if (*app->pattern)
		app->pattern[0] = '\0';
	else
		app->zoom = false;
	return EFFECT_REDRAW;
}

/* The first half of a two-key command. */
static u32 wait_for_second(struct app *app, u32 count, u32 key)
{
	app->pending = key;
	app->count = count;
	return EFFECT_REDRAW;
}

static u32 act_next_kind(struct app *app, u32 count)
{
	return wait_for_second(app, count, ']');
}

static u32 act_previous_kind(struct app *app, u32 count)
{
	return wait_for_second(app, count, '[');
}

static u32 act_mark(struct app *app, u32 count)
{
	return wait_for_second(app, count, 'm');
}

static u32 act_to_mark(struct app *app, u32 count)
{
	return wait_for_second(app, count, '\'');
}

const struct key_info key_infos[] = {
#define KEY(key, label, action, text) { key, label, text, act_##action },
#include "keys.def"
#undef KEY
};
const u32 nr_key_infos = NR_OF(key_infos);

static u32 go_to_kind(struct app *app, u32 letter, u32 count, int dir)
{
	u32 from = app->tick;
	u32 tick = NONE;

	for (u32 i = 0; i < times(count); i++) {
		tick = find_kind(app, letter, dir);
		if (tick == NONE)
			break;
		app_goto(app, tick);
	}
	for (u32 i = 0; tick == NONE && i < nr_event_kinds; i++)
		if ((u32)event_kinds[i].letter == letter)
			app_complain(app, "No %s%s %s this step.", dir > 0 ? "further " : "",
				     event_kinds[i].name, dir > 0 ? "after" : "before");
	if (tick == NONE && !*app->message)
		app_complain(app, "]x and [x know f u w r d s e; ? tells what they are.");
	app_goto(app, app->tick);
	remember(app, from);
	return EFFECT_REDRAW;
}

static u32 *mark_of(struct app *app, u32 key)
{
	if (key >= 'a' && key <= 'z')
		return &app->mark[key - 'a'];
	if (key >= 'A' && key <= 'Z')
		return &app->mark[26 + key - 'A'];
	return NULL;
}

static void swap_with_last_jump(struct app *app)
{
	u32 back = app->nr_jumps ? app->jump[app->nr_jumps - 1] : app->tick;

	if (app->nr_jumps)
		app->jump[app->nr_jumps - 1] = app->tick;
	app_goto(app, back);
}

static u32 second_key(struct app *app, u32 key, u32 count)
{
	u32 first = app->pending;
	u32 *mark = mark_of(app, key);

	app->pending = 0;
	if (key == K_ESC)
		return EFFECT_REDRAW;
	if (first == ']' || first == '[')
		return go_to_kind(app, key, count, first == ']' ? 1 : -1);
	if (first == '\'' && key == '\'') {
		swap_with_last_jump(app);
	} else if (!mark) {
		app_complain(app, "Marks are letters: m a sets one, ' a goes there.");
	} else if (first == 'm') {
		*mark = app->tick + 1;
		app_say(app, "Marked: '%c comes back here.", (char)key);
	} else if (!*mark) {
		app_complain(app, "No mark %c", (char)key);
	} else {
		app_jump(app, *mark - 1);
	}
	return EFFECT_REDRAW;
}

static u32 command_key(struct app *app, u32 key)
{
	u32 count = app->count;

	if ((key >= '1' && key <= '9') || (key == '0' && count)) {
		if (!app->pending) {
			app->count = count < MAX_COUNT / 10 ? count * 10 + key - '0' : MAX_COUNT;
			return EFFECT_REDRAW;
		}
	}
	app->count = 0;
	if (app->pending)
		return second_key(app, key, count);
	if (key == '\n')
		key = '\r';
	for (u32 i = 0; i < nr_key_infos; i++)
		if (key_infos[i].key == key)
			return key_infos[i].act(app, count);
	app_say(app, "No such key. ? shows them all.");
	return EFFECT_REDRAW;
}

static u32 finish_line(struct app *app)
{
	enum mode mode = app->mode;

	app->mode = MODE_KEYS;
	if (mode == MODE_COMMAND)
		return app_command(app, app->line);
	if (app->line_len)
		memcpy(app->pattern, app->line, sizeof(app->pattern));
	return *app->pattern ? match(app, 1, 1) : EFFECT_REDRAW;
}

/* The beginning of the last character, or of the last word. */
static u32 cut_at(const struct app *app, bool word)
{
	u32 len = app->line_len;

	while (word && len && app->line[len - 1] == ' ')
		len--;
	while (len && (app->line[--len] & 0xc0) == 0x80)
		;
	while (word && len && app->line[len - 1] != ' ')
		len--;
	return len;
}

static u32 line_key(struct app *app, u32 key)
{
	char utf8[4];
	u32 n;

	switch (key) {
	case '\r':
	case '\n':
		return finish_line(app);
	case K_ESC:
	case K_CTRL('c'):
		app->mode = MODE_KEYS;
		return EFFECT_REDRAW;
	case K_CTRL('h'):
	case K_BACKSPACE:
	case K_DELETE:
		if (!app->line_len)
			app->mode = MODE_KEYS;
		app->line_len = cut_at(app, false);
		break;
	case K_CTRL('w'):
		app->line_len = cut_at(app, true);
		break;
	case K_CTRL('u'):
		app->line_len = 0;
		break;
	case K_CTRL('z'):
		return act_suspend(app, 0);
	case '\t':
		if (app->mode == MODE_COMMAND)
			app_complete(app);
		return EFFECT_REDRAW;
	default:
		if (key < ' ' || key >= K_FIRST)
			return EFFECT_REDRAW;
		n = rune_utf8(key, utf8);
		if (app->line_len + n < MAX_LINE) {
			memcpy(app->line + app->line_len, utf8, n);
			app->line_len += n;
		}
	}
	app->line[app->line_len] = '\0';
	return EFFECT_REDRAW;
}

static u32 help_key(struct app *app, u32 key)
{
	switch (key) {
	case 'j':
	case 's':
	case K_DOWN:
		app->scroll++;
		break;
	case 'k':
	case 'b':
	case K_UP:
		app->scroll -= app->scroll > 0;
		break;
	case ' ':
	case K_PAGE_DOWN:
		app->scroll += app->h > 4 ? app->h - 3 : 1;
		break;
	case K_PAGE_UP:
		app->scroll -= app->scroll < app->h ? app->scroll : app->h;
		break;
	case 'g':
	case K_HOME:
		app->scroll = 0;
		break;
	case K_CTRL('c'):
	case K_F10:
		return EFFECT_QUIT;
	case K_CTRL('z'):
		return act_suspend(app, 0);
	case K_CTRL('l'):
		return act_redraw(app, 0);
	case 'q':
	case '?':
	case K_F1:
	case K_ESC:
		app->mode = MODE_KEYS;
		app->scroll = 0;
	}
	return EFFECT_REDRAW;
}

u32 app_key(struct app *app, u32 key)
{
	u32 tick = app->tick;
	u32 effects;

	app->message[0] = '\0';
	app->complaint = false;
	if (app->mode == MODE_SEARCH || app->mode == MODE_COMMAND)
		effects = line_key(app, key);
	else
		effects = app->mode == MODE_HELP ? help_key(app, key) : command_key(app, key);
	if (app->tick != tick)
		app_settle(app);
	return effects;
}

u32 app_keys(struct app *app, const char *keys)
{
	u32 effects = 0;

	for (; *keys; keys++)
		effects |= app_key(app, (u32)(unsigned char)*keys);
	return effects;
}
