/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.c - variables of the stack's programs. See environment.h.
 */
#include "client/dev/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"

enum { PATH_BYTES = 4096 };

extern char **environ;

/* Variables of the system that a child gets: for finding programs, home, language, time, sanitizers. */
static const char *const system_variables[] = { "PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR",
    "SSL_CERT_FILE", "GRPC_TRACE", "GRPC_VERBOSITY", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS",
    "TSAN_OPTIONS" };

/* ---- programs ---- */

static const char *path_beside(const char *name, struct arena *arena)
{
    char own[PATH_BYTES];
    ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);
    char *slash;

    own[len > 0 ? len : 0] = '\0';
    slash = strrchr(own, '/');
    if (slash)
        *slash = '\0';
    return arena_format(arena, "%s/%s", own, name).data;
}

enum status environment_find_program(
    const char *name, struct arena *arena, const char **out, struct error *err)
{
    const char *path = path_beside(name, arena);

    if (access(path, X_OK) != 0)
        return error_set(err, STATUS_UNAVAILABLE, "%s does not exist: build it first", path);
    *out = path;
    return STATUS_OK;
}

/* ---- environments ---- */

static const char *name_of(const char *entry, struct arena *arena)
{
    return arena_copy(arena, str_of_bytes(entry, strcspn(entry, "="))).data;
}

static bool is_ours(const char *name)
{
    return strncmp(name, CONFIG_PREFIX, strlen(CONFIG_PREFIX)) == 0;
}

static bool is_of_system(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(system_variables); i++)
        if (strcmp(system_variables[i], name) == 0)
            return true;
    return strncmp(name, "LC_", 3) == 0;
}

static bool is_given(const char *name, const struct variable *variables, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(variables[i].name, name) == 0)
            return true;
    return false;
}

static char **new_environment(size_t more, struct arena *arena)
{
    size_t count = 0;

    while (environ[count])
        count++;
    return ARENA_ARRAY(arena, char *, count + more + 1);
}

static char *entry_of(const struct variable *variable, struct arena *arena)
{
    return (char *)arena_format(arena, "%s=%s", variable->name, variable->value).data;
}

char **environment_for(bool is_own, const struct variable *variables, size_t count, struct arena *arena)
{
    char **out = new_environment(count, arena);
    size_t used = 0;

    for (size_t i = 0; environ[i]; i++) {
        const char *name = name_of(environ[i], arena);
        bool wanted = is_ours(name) ? is_own : is_of_system(name);

        if (wanted && !is_given(name, variables, count))
            out[used++] = environ[i];
    }
    for (size_t i = 0; i < count; i++)
        out[used++] = entry_of(&variables[i], arena);
    return out;
}

char **environment_with(const struct variable *variables, size_t count, struct arena *arena)
{
    char **out = new_environment(count, arena);
    size_t used = 0;

    for (size_t i = 0; environ[i]; i++)
        if (!is_given(name_of(environ[i], arena), variables, count))
            out[used++] = environ[i];
    for (size_t i = 0; i < count; i++)
        out[used++] = entry_of(&variables[i], arena);
    return out;
}
