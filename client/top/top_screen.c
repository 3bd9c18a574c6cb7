/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_screen.c - see the header.
 */
#include "client/top/top_screen.h"

#include <curses.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "client/interrupt.h"
#include "client/top/top_collect.h"

enum {
    EVERY_MS = 2000,
    KEY_WAIT_MS = 200,
    SPARK_WIDTH = 16,
    WIDE = 100, /* columns from which on there is room for sparklines */
    NARROW = 60,
    NARROW_TEXT = 24,
    MAX_CLOSED = 8,
    HEAD_LINES = 3,
    FILTER_BYTES = 64,
    ESCAPE = 27,
};

struct screen {
    struct top_view *view;
    struct tavola *client;
    const char *target;
    enum top_section section; /* the one that is open; the others show as many rows as there is room for */
    char filter[FILTER_BYTES];
    bool is_typing, shows_help, asks, is_left; /* asks: whether to switch the chosen queue */
    int64_t read_us;
};

bool top_screen_is_possible(void)
{
    const char *terminal = getenv("TERM");

    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && terminal && *terminal &&
           strcmp(terminal, "dumb") != 0;
}

/* ---- rows ---- */

/* Print a text in a number of columns; right: at their right end. */
static void print_cell(const char *text, int width, bool right)
{
    int y, x;

    getyx(stdscr, y, x);
    if (x + width > COLS)
        width = COLS - x;
    if (width <= 0)
        return;
    printw("%*s", width, "");
    mvaddnstr(y, right && (int)strlen(text) < width ? x + width - (int)strlen(text) : x, text, width);
    if (x + width < COLS)
        move(y, x + width);
}

/* Long texts are cut where the terminal is narrow, so that a number stands beside them. */
static int shown_width(const struct top_column *column)
{
    return column->is_text && COLS < NARROW && column->width > NARROW_TEXT ? NARROW_TEXT : column->width;
}

/* Whether a column, with a gap behind it, still fits on the line. */
static bool has_room(int width)
{
    return getcurx(stdscr) + width < COLS || (getcurx(stdscr) == 0);
}

static void print_titles(const struct top_table *table)
{
    for (int i = 0; table->columns[i].title && has_room(shown_width(&table->columns[i])); i++) {
        const struct top_column *column = &table->columns[i];

        if (i == table->sort)
            attron(A_UNDERLINE);
        print_cell(column->title, shown_width(column), !column->is_text);
        attroff(A_UNDERLINE);
        print_cell("", 1, false);
        if (column->has_history && COLS >= WIDE)
            print_cell("", SPARK_WIDTH + 1, false);
    }
}

static void print_row(const struct top_table *table, const struct top_row *row)
{
    char text[TOP_TEXT], spark[3 * SPARK_WIDTH + 1];

    for (int i = 0; table->columns[i].title && has_room(shown_width(&table->columns[i])); i++) {
        const struct top_column *column = &table->columns[i];

        print_cell(top_table_cell(column, &row->cells[i], text), shown_width(column), !column->is_text);
        print_cell("", 1, false);
        if (column->has_history && COLS >= WIDE && has_room(SPARK_WIDTH)) {
            top_table_sparkline(row, SPARK_WIDTH, spark);
            addstr(spark);
            print_cell("", 1, false);
        }
    }
}

/* ---- sections ---- */

static int count_matches(const struct screen *screen, const struct top_table *table)
{
    int count = 0;

    for (size_t i = 0; i < table->count; i++)
        count += top_table_matches(table, &table->rows[i], screen->filter);
    return count;
}

static void print_section_head(
    const struct screen *screen, const struct top_table *table, int y, bool is_open)
{
    char title[80];

    snprintf(
        title, sizeof(title), "%s%s (%d)", is_open ? "> " : "  ", table->title, count_matches(screen, table));
    attron(is_open ? A_BOLD | A_REVERSE : A_BOLD);
    mvaddnstr(y, 0, title, COLS);
    attroff(A_BOLD | A_REVERSE);
}

/* Print the head, the titles and at most `lines` rows from line y on. Returns the line behind them. */
static int print_section(const struct screen *screen, enum top_section section, int y, int lines)
{
    struct top_table *table = &screen->view->tables[section];
    bool is_open = section == screen->section;
    int matches = count_matches(screen, table), number = 0;
    int first = is_open && table->selected >= lines ? table->selected - lines + 1 : 0;

    if (table->selected >= matches)
        table->selected = matches > 0 ? matches - 1 : 0;
    print_section_head(screen, table, y++, is_open);
    if (lines == 0 || matches == 0)
        return y;
    move(y++, 0);
    print_titles(table);
    for (size_t i = 0; i < table->count && number < first + lines; i++) {
        if (!top_table_matches(table, &table->rows[i], screen->filter))
            continue;
        if (number >= first) {
            move(y++, 0);
            if (is_open && number == table->selected)
                attron(A_STANDOUT);
            print_row(table, &table->rows[i]);
            attroff(A_STANDOUT);
        }
        number++;
    }
    return y;
}

/* Each closed section has up to MAX_CLOSED rows, fewer if the terminal is low; the open one has what is left. */
static void print_sections(const struct screen *screen)
{
    int room = LINES - HEAD_LINES - 1, closed = (room - 8) / (TOP_SECTIONS - 1) - 2;
    int used = 0, y = HEAD_LINES;
    int lines[TOP_SECTIONS];

    closed = closed < 0 ? 0 : closed > MAX_CLOSED ? MAX_CLOSED : closed;
    for (int i = 0; i < TOP_SECTIONS; i++) {
        int matches = count_matches(screen, &screen->view->tables[i]);

        lines[i] = matches < closed ? matches : closed;
        if (i != (int)screen->section)
            used += 1 + (lines[i] > 0 ? lines[i] + 1 : 0);
    }
    lines[screen->section] = room - used - 2 > 1 ? room - used - 2 : 1;
    for (int i = 0; i < TOP_SECTIONS && y < LINES - 1; i++)
        y = print_section(screen, (enum top_section)i, y, lines[i]);
}

/* ---- the first and the last lines ---- */

static void print_head(const struct screen *screen)
{
    const struct top_server *server = &screen->view->server;
    char line[256], spark[3 * TOP_HISTORY + 1];

    attron(A_BOLD);
    snprintf(line, sizeof(line), "tavola %s  %s", server->version, screen->target);
    mvaddnstr(0, 0, line, COLS);
    attroff(A_BOLD);
    if (server->calls_per_s < 0)
        snprintf(line, sizeof(line), "the server's first sample comes within ten seconds");
    else
        snprintf(line, sizeof(line),
            "%.0f calls/s  %.1f failed/s  median %.1f ms  p99 %.1f ms  %.0f waiting  %.0f MiB  %.0f conn",
            server->calls_per_s, server->failed_per_s, server->median_s * 1000, server->slow_s * 1000,
            server->waiting, server->memory_bytes / 1048576, server->connections);
    mvaddnstr(1, 0, line, COLS);
    if (COLS >= WIDE + TOP_HISTORY) {
        top_table_sparkline(&server->load, TOP_HISTORY, spark);
        mvaddstr(0, COLS - TOP_HISTORY, spark);
    }
    if (server->dead_letters > 0) {
        snprintf(line, sizeof(line), "%.0f dead letters", server->dead_letters);
        attron(A_BOLD);
        mvaddnstr(2, 0, line, COLS);
        attroff(A_BOLD);
    }
}

/* The row of the open section that is chosen; NULL: it has none. */
static const struct top_row *chosen_row(const struct screen *screen)
{
    const struct top_table *table = &screen->view->tables[screen->section];
    int number = 0;

    for (size_t i = 0; i < table->count; i++)
        if (top_table_matches(table, &table->rows[i], screen->filter) && number++ == table->selected)
            return &table->rows[i];
    return NULL;
}

static void print_foot(const struct screen *screen)
{
    const struct top_row *row = chosen_row(screen);
    char line[256];

    if (screen->asks && row)
        snprintf(line, sizeof(line), "%s queue %s? y/n",
            strcmp(row->cells[2].text, "PAUSED") == 0 ? "resume" : "pause", row->key);
    else if (screen->is_typing)
        snprintf(line, sizeof(line), "filter: %s_", screen->filter);
    else if (*screen->view->problem)
        snprintf(line, sizeof(line), "%s", screen->view->problem);
    else
        snprintf(line, sizeof(line),
            "%s%s%sq quit  h help  tab section  s sort  r reverse  / filter  p pause",
            *screen->filter ? "filtered by " : "", screen->filter, *screen->filter ? "  " : "");
    attron(A_REVERSE);
    mvhline(LINES - 1, 0, ' ', COLS);
    mvaddnstr(LINES - 1, 0, line, COLS);
    attroff(A_REVERSE);
}

static void print_help(void)
{
    static const char *const lines[] = { "tab, 1 to 8   open another section", "up, down      choose a row",
        "s             sort by the next column (it is underlined)", "r             turn the order round",
        "/             show only rows with a text; Enter keeps it, Esc drops it",
        "p             pause or resume the chosen queue (section Queues)", "space         ask the server now",
        "q             leave", "",
        "Rates and durations of methods are those of the last two seconds; bars show the last",
        "rounds, the newest on the right. Hot partitions are those of the last minute." };

    for (int i = 0; i < (int)(sizeof(lines) / sizeof(lines[0])) && HEAD_LINES + i < LINES - 1; i++)
        mvaddnstr(HEAD_LINES + i, 0, lines[i], COLS);
}

static void draw(const struct screen *screen)
{
    erase();
    print_head(screen);
    if (screen->shows_help)
        print_help();
    else
        print_sections(screen);
    print_foot(screen);
    refresh();
}

/* ---- keys ---- */

static void type_filter(struct screen *screen, int key)
{
    size_t len = strlen(screen->filter);

    if (key == '\n' || key == KEY_ENTER) {
        screen->is_typing = false;
    } else if (key == ESCAPE) {
        screen->is_typing = false;
        screen->filter[0] = '\0';
    } else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && len > 0) {
        screen->filter[len - 1] = '\0';
    } else if (key >= ' ' && key < 127 && len + 1 < FILTER_BYTES) {
        screen->filter[len] = (char)key;
        screen->filter[len + 1] = '\0';
    }
}

static void answer_question(struct screen *screen, int key)
{
    const struct top_row *row = chosen_row(screen);

    screen->asks = false;
    if (key != 'y' || !row)
        return;
    if (top_collect_switch_queue(screen->view, screen->client, row->key))
        screen->read_us = 0;
}

static void choose_row(struct screen *screen, int step)
{
    struct top_table *table = &screen->view->tables[screen->section];

    table->selected += step;
    if (table->selected < 0)
        table->selected = 0;
}

static void press_key(struct screen *screen, int key)
{
    struct top_table *table = &screen->view->tables[screen->section];

    if (key == 'q')
        screen->is_left = true;
    else if (key == 'h' || key == '?' || screen->shows_help)
        screen->shows_help = !screen->shows_help;
    else if (key == '\t')
        screen->section = (screen->section + 1) % TOP_SECTIONS;
    else if (key >= '1' && key < '1' + TOP_SECTIONS)
        screen->section = (enum top_section)(key - '1');
    else if (key == KEY_UP || key == KEY_DOWN)
        choose_row(screen, key == KEY_UP ? -1 : 1);
    else if (key == 's')
        top_table_sort_next(table);
    else if (key == 'r')
        table->ascending = !table->ascending;
    else if (key == '/')
        screen->is_typing = true;
    else if (key == 'p' && screen->section == TOP_QUEUES)
        screen->asks = chosen_row(screen) != NULL;
    if (key == ' ' || key == 'r')
        screen->read_us = 0;
}

static void take_key(struct screen *screen)
{
    int key = getch();

    if (key == ERR || key == KEY_RESIZE)
        return;
    if (screen->asks)
        answer_question(screen, key);
    else if (screen->is_typing)
        type_filter(screen, key);
    else
        press_key(screen, key);
}

/* ---- the loop ---- */

static bool begin_curses(SCREEN **out)
{
    if (!setlocale(LC_CTYPE, "") || strcmp(setlocale(LC_CTYPE, NULL), "C") == 0)
        (void)setlocale(LC_CTYPE, "C.UTF-8");
    *out = newterm(NULL, stdout, stdin);
    if (!*out)
        return false;
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
    timeout(KEY_WAIT_MS);
    set_escdelay(25);
    return true;
}

static void show_until_left(struct screen *screen)
{
    while (!screen->is_left && !interrupt_came()) {
        int64_t now_us = clock_monotonic_us();

        if (screen->read_us == 0 || now_us - screen->read_us >= EVERY_MS * INT64_C(1000)) {
            top_collect_round(screen->view, screen->client, (double)now_us / 1e6);
            screen->read_us = now_us;
        }
        draw(screen);
        take_key(screen);
    }
}

bool top_screen_run(struct tavola *client, const char *target)
{
    struct screen screen = { .client = client, .target = target };
    SCREEN *terminal;

    if (!begin_curses(&terminal))
        return false;
    screen.view = xcalloc(1, sizeof(*screen.view));
    top_collect_init(screen.view);
    show_until_left(&screen);
    endwin();
    delscreen(terminal);
    free(screen.view);
    return true;
}
