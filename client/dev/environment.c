/*
 * environment.c - variables of the stack's programs. See environment.h.
 */
#include "client/dev/environment.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/config.h"
#include "client/client_config.h"
#include "client/dev/process.h"

enum { SETTINGS_BYTES = 16384, PATH_BYTES = 4096 };

extern char **environ;

/* What a child may see of the system: how to find programs, where home is, language, time, sanitizers. */
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

static void split_lines(struct str text, struct arena *arena, struct program *out)
{
    size_t lines = 0;

    for (size_t i = 0; i < text.len; i++)
        lines += text.data[i] == '\n';
    out->settings = ARENA_ARRAY(arena, const char *, lines + 1);
    while (text.len > 0) {
        const char *end = memchr(text.data, '\n', text.len);
        size_t len = end ? (size_t)(end - text.data) : text.len;

        if (end)
            out->settings[out->count++] = arena_copy(arena, str_of_bytes(text.data, len)).data;
        text = str_from(text, len + 1);
    }
}

enum status program_open(const char *name, struct arena *arena, struct program *out, struct error *err)
{
    struct program program = { .name = name, .path = path_beside(name, arena) };
    char *argv[] = { (char *)program.path, (char *)"--print-settings", NULL };
    struct process_plan plan = { .name = name, .argv = argv };
    char text[SETTINGS_BYTES];
    enum status status;
    ssize_t len;

    if (access(program.path, X_OK) != 0)
        return error_set(err, STATUS_UNAVAILABLE, "%s is not there: build it first", program.path);
    plan.environment = environment_for(NULL, NULL, 0, arena);
    plan.output = memfd_create(name, MFD_CLOEXEC);
    if (plan.output < 0)
        return error_set(err, STATUS_UNAVAILABLE, "no memory for the settings of %s", name);
    status = process_run(&plan, err);
    len = pread(plan.output, text, sizeof(text), 0);
    close(plan.output);
    if (status != STATUS_OK)
        return status;
    split_lines(str_of_bytes(text, len > 0 ? (size_t)len : 0), arena, &program);
    *out = program;
    return STATUS_OK;
}

bool program_knows(const struct program *program, const char *setting)
{
    for (size_t i = 0; i < program->count; i++)
        if (strcmp(program->settings[i], setting) == 0)
            return true;
    return false;
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

char **environment_for(
    const struct program *program, const struct variable *variables, size_t count, struct arena *arena)
{
    char **out = new_environment(count, arena);
    size_t used = 0;

    for (size_t i = 0; environ[i]; i++) {
        const char *name = name_of(environ[i], arena);
        bool wanted = is_ours(name) ? program && program_knows(program, name) : is_of_system(name);

        if (wanted && !is_given(name, variables, count))
            out[used++] = environ[i];
    }
    for (size_t i = 0; i < count; i++)
        if (!is_ours(variables[i].name) || (program && program_knows(program, variables[i].name)))
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

enum status environment_check(
    const struct program *programs, size_t count, struct arena *arena, struct error *err)
{
    struct program all = { .settings = NULL };
    size_t most = client_program.count;

    for (size_t i = 0; i < count; i++)
        most += programs[i].count;
    all.settings = ARENA_ARRAY(arena, const char *, most);
    for (size_t i = 0; i < client_program.count; i++)
        all.settings[all.count++] = client_program.settings[i].name;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < programs[i].count; j++)
            all.settings[all.count++] = programs[i].settings[j];
    for (size_t i = 0; environ[i]; i++) {
        const char *name = name_of(environ[i], arena);
        const char *nearest = config_nearest(name, all.settings, all.count);

        if (is_ours(name) && !program_knows(&all, name))
            return error_set(err, STATUS_INVALID, "%s is not a setting of any program of the stack%s%s%s%s",
                name, config_stray_hint(name, strchr(environ[i], '=') + 1), nearest ? "; did you mean " : "",
                nearest ? nearest : "", nearest ? "?" : "");
    }
    return STATUS_OK;
}
