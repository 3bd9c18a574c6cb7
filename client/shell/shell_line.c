/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell_line.c - see the header.
 */
#include "client/shell/shell_line.h"

#include <errno.h>
#include <histedit.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "client/shell/shell_completion.h"

enum { MAX_HISTORY = 1000, PRIVATE_FOLDER = 0700, PRIVATE_FILE = 0177 };

struct shell_line {
    EditLine *edit;
    History *history;
    char path[PATH_MAX]; /* of the history; empty: there is no home to keep it in */
};

static const char *give_prompt(EditLine *edit)
{
    (void)edit;
    return "tavola> ";
}

static void list_choices(const struct shell_choices *choices)
{
    putchar('\n');
    for (size_t i = 0; i < choices->count; i++)
        printf("%s%s", choices->words[i], i + 1 < choices->count ? "  " : "\n");
    (void)fflush(stdout);
}

/* The tabulator: complete the word before the cursor, or list the choices. */
static unsigned char complete(EditLine *edit, int key)
{
    const LineInfo *info = el_line(edit);
    char *line = strndup(info->buffer, (size_t)(info->cursor - info->buffer));
    struct shell_choices choices;
    char added[SHELL_CHOICE_BYTES + 1];
    size_t common;

    (void)key;
    if (!line)
        return CC_ERROR;
    shell_completion_find(line, &choices);
    free(line);
    common = shell_completion_common(&choices);
    if (choices.count == 0)
        return CC_ERROR;
    if (common == 0 && choices.count > 1) {
        list_choices(&choices);
        return CC_REDISPLAY;
    }
    snprintf(added, sizeof(added), "%.*s%s", (int)common, choices.words[0] + choices.typed,
        choices.count == 1 ? " " : "");
    return el_insertstr(edit, added) == 0 ? CC_REFRESH : CC_ERROR;
}

/* Make the folders of a path, up to its last slash. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, PRIVATE_FOLDER);
        *slash = '/';
    }
}

static void find_history(char out[static PATH_MAX])
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

    out[0] = '\0';
    if (state && *state == '/')
        snprintf(out, PATH_MAX, "%s/tavola/history", state);
    else if (home && *home == '/')
        snprintf(out, PATH_MAX, "%s/.local/state/tavola/history", home);
    if (out[0])
        make_folders(out);
}

static void load_history(struct shell_line *line)
{
    HistEvent event;

    find_history(line->path);
    history(line->history, &event, H_SETSIZE, MAX_HISTORY);
    history(line->history, &event, H_SETUNIQUE, 1);
    if (line->path[0])
        history(line->history, &event, H_LOAD, line->path);
}

struct shell_line *shell_line_open(void)
{
    struct shell_line *line = xcalloc(1, sizeof(*line));

    line->edit = el_init("tavola", stdin, stdout, stderr);
    line->history = history_init();
    if (!line->edit || !line->history) {
        shell_line_close(line);
        return NULL;
    }
    load_history(line);
    el_set(line->edit, EL_PROMPT, give_prompt);
    el_set(line->edit, EL_EDITOR, "emacs");
    el_set(line->edit, EL_HIST, history, line->history);
    /* el_set would copy both texts and never free them */
    el_wset(line->edit, EL_ADDFN, L"complete", L"Complete a word", complete);
    el_set(line->edit, EL_BIND, "\t", "complete", NULL);
    el_set(line->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
    /* The terminal makes this of a ^D that was typed before a line was read, such as while a command ran. */
    el_set(line->edit, EL_BIND, "^@", "em-delete-or-list", NULL);
    return line;
}

/* Lines that begin with a blank are not kept. */
static void note_line(struct shell_line *line, const char *text)
{
    HistEvent event;

    if (*text != ' ' && *text != '\n')
        history(line->history, &event, H_ENTER, text);
}

const char *shell_line_read(struct shell_line *line)
{
    int count = 0;
    const char *text;

    do {
        errno = 0;
        text = el_gets(line->edit, &count);
    } while (!text && errno == EINTR);
    if (!text || count <= 0)
        return NULL;
    note_line(line, text);
    return text;
}

static void save_history(struct shell_line *line)
{
    mode_t before = umask(PRIVATE_FILE);
    HistEvent event;

    if (line->path[0])
        history(line->history, &event, H_SAVE, line->path);
    umask(before);
}

void shell_line_close(struct shell_line *line)
{
    if (line->history) {
        save_history(line);
        history_end(line->history);
    }
    if (line->edit)
        el_end(line->edit);
    free(line);
}
