// SPDX-License-Identifier: MIT
/* The screen of npu top. */
#include <curses.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/tools/tool.h"
#include "userspace/tools/top.h"

#define BAR	20

static void put_bar(double load)
{
	int full = (int)(load * BAR + 0.5);

	addch('[');
	attron(COLOR_PAIR(load > 0.8 ? 2 : 1));
	for (int i = 0; i < BAR; i++)
		addch(i < full ? '|' : ' ');
	attroff(COLOR_PAIR(load > 0.8 ? 2 : 1));
	printw("] %5.1f%%", load * 100);
}

/* Loads over time, the newest on the right, as high as a character can tell. */
static void put_history(const struct top_device *d, int width)
{
	static const char levels[] = " .:-=+*#%@";
	unsigned int n = d->samples < TOP_HISTORY ? d->samples : TOP_HISTORY;

	if (width > 0 && n > (unsigned int)width)
		n = (unsigned int)width;
	for (unsigned int i = d->samples - n; i != d->samples; i++)
		addch((chtype)levels[(int)(d->history[i % TOP_HISTORY] * 9 + 0.5)]);
}

static void put_text(const char *text, int width)
{
	char *clean = tool_clean(text);

	printw("%-*.*s", width, width, clean ? clean : "?");
	free(clean);
}

static void draw_client(const struct top_client *c)
{
	printw("  %8u ", c->account.pid);
	put_text(c->account.comm, 16);
	put_bar(c->load);
	printw(" %9llu jobs %9.3f mJ\n", (unsigned long long)c->account.jobs,
	       (double)c->account.energy_nj / 1e6);
}

static void draw_device(const struct top_device *d)
{
	attron(A_BOLD);
	put_text(d->name, 20);
	attroff(A_BOLD);
	printw(" %-9s ", d->state);
	put_bar(d->load);
	if (d->millidegrees >= 0)
		printw("  %4.1f C", (double)d->millidegrees / 1000);
	if (d->microwatts >= 0)
		printw("  %6.3f W", (double)d->microwatts / 1e6);
	printw("\n  load ");
	put_history(d, COLS - 10);
	addch('\n');
	for (size_t i = 0; i < d->count; i++)
		draw_client(&d->clients[i]);
	if (d->fd < 0)
		printw("  %s cannot be opened: no clients are shown\n", d->path);
	addch('\n');
}

static void draw(const struct top *top)
{
	erase();
	for (unsigned int i = 0; i < top->count; i++)
		draw_device(&top->devices[i]);
	if (!top->count)
		addstr("no NPU is driven here; \"npu load --sim 1\" makes one\n");
	attron(A_REVERSE);
	mvprintw(LINES - 1, 0, " npu top   q quits ");
	attroff(A_REVERSE);
	refresh();
}

int top_screen(struct top *top, int interval_ms)
{
	SCREEN *screen;
	int err, key;

	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		return tool_fail("this is no terminal; --once and --json need none");
	setlocale(LC_ALL, "");
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return tool_fail("the terminal \"%s\" is not known", getenv("TERM") ? getenv("TERM") : "");
	cbreak();
	noecho();
	curs_set(0);
	if (has_colors()) {
		start_color();
		use_default_colors();
		init_pair(1, COLOR_GREEN, -1);
		init_pair(2, COLOR_YELLOW, -1);
	}
	timeout(interval_ms);
	do {
		err = top_sample(top);
		draw(top);
		key = err ? 'q' : getch();
	} while (key != 'q' && key != 'Q' && key != 27);
	endwin();
	delscreen(screen);
	return err ? tool_fail("accounts: %s", strerror(-err)) : TOOL_OK;
}
