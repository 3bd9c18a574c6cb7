/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.c - see the header.
 */
#include "client/profile.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 1024, LINE_BYTES = 1024 };

static const struct {
    const char *name, *setting;
} keys[] = {
    { "target", "TAVOLA_TARGET" },
    { "ca", "TAVOLA_CA" },
    { "cert", "TAVOLA_CLIENT_CERT" },
    { "key", "TAVOLA_CLIENT_KEY" },
    { "token-file", "TAVOLA_TOKEN_FILE" },
    { "postgres", "TAVOLA_POSTGRES" },
};

static void find_file(char out[PATH_BYTES])
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (folder && *folder)
        snprintf(out, PATH_BYTES, "%s/tavola/config", folder);
    else
        snprintf(out, PATH_BYTES, "%s/.config/tavola/config", home ? home : "");
}

/* Remove white space at both ends. */
static char *trim(char *text)
{
    size_t len;

    while (isspace((unsigned char)*text))
        text++;
    len = strlen(text);
    while (len > 0 && isspace((unsigned char)text[len - 1]))
        text[--len] = '\0';
    return text;
}

/* Apply a line of the wanted profile: "target = ...". false: there is no such key. */
static bool apply_line(char *line)
{
    char *equals = strchr(line, '=');

    if (!equals)
        return false;
    *equals = '\0';
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(trim(line), keys[i].name) == 0) {
            setenv(keys[i].setting, trim(equals + 1), 0);
            return true;
        }
    return false;
}

/* Read the file. false: a line is wrong. *found: whether the file has the profile. */
static bool read_file(FILE *file, const char *path, const char *name, bool *found)
{
    char text[LINE_BYTES];
    bool is_wanted = false;

    for (int number = 1; fgets(text, sizeof(text), file); number++) {
        char *line = trim(text);
        size_t len = strlen(line);

        if (len == 0 || line[0] == '#')
            continue;
        if (line[0] == '[' && line[len - 1] == ']') {
            line[len - 1] = '\0';
            is_wanted = strcmp(trim(line + 1), name) == 0;
            *found = *found || is_wanted;
        } else if (is_wanted && !apply_line(line)) {
            fprintf(stderr,
                "tavola: %s, line %d: allowed are target, ca, cert, key, token-file and postgres\n", path,
                number);
            return false;
        }
    }
    return true;
}

bool profile_apply(const char *name)
{
    char path[PATH_BYTES];
    bool found = false, read;
    FILE *file;

    find_file(path);
    file = fopen(path, "re");
    read = !file || read_file(file, path, name ? name : "default", &found);
    if (file)
        fclose(file);
    if (read && name && !found) {
        fprintf(stderr, "tavola: %s has no profile [%s]\n", path, name);
        return false;
    }
    return read;
}
