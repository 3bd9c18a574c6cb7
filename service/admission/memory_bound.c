/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_bound.c - see the header: how the bound is found, and the other bounds that follow from it.
 */
#include "service/admission/memory_bound.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digits.h"
#include "base/macros.h"
#include "base/str.h"

enum {
    KIB = 1024,
    MIB = 1024 * KIB,
    MIN_BOUND_BYTES = 64 * MIB,
    TEXT_BYTES = 4096,
    /* A quarter of the memory is for connections: each has buffers and, with TLS, a session. */
    CONNECTIONS_SHARE = 4,
    CONNECTION_BYTES = 64 * KIB,
    /* One address may have a quarter of the connections. */
    ADDRESS_SHARE = 4,
    MIN_PER_ADDRESS = 16,
    /* A sixteenth of the memory is for calls that need no credential. */
    OPEN_CALLS_SHARE = 16,
    OPEN_CALL_BYTES = 16 * KIB,
    MAX_OPEN_CALLS = 4096,
    OPEN_CALLS_PER_CONNECTION = 64,
    FIRST_CALL_MS = 20000,
};

static const int64_t default_bytes = INT64_C(2) * 1024 * MIB;

/* ---- the setting ---- */

static int64_t parse(const char *text)
{
    static const struct {
        const char *name;
        int64_t bytes;
    } units[] = { { "", 1 }, { "kB", KIB }, { "MB", MIB }, { "GB", INT64_C(1024) * MIB } };
    struct str rest = str_of(text);
    uint64_t number;

    if (!digits_take_unsigned(&rest, INT64_MAX, &number))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_equal(rest, str_of(units[i].name)) && number <= (uint64_t)(INT64_MAX / units[i].bytes))
            return (int64_t)number * units[i].bytes;
    return 0;
}

bool memory_bound_is_valid(const char *setting)
{
    return parse(setting) >= MIN_BOUND_BYTES;
}

/* ---- the cgroup ---- */

static size_t read_text(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "re");
    size_t length = 0;

    if (file) {
        length = fread(out, 1, size - 1, file);
        fclose(file);
    }
    out[length] = '\0';
    return length;
}

/*
 * Read the limit of one cgroup. 0: there is none: "max", no file, or the huge number that means no limit in
 * version 1.
 */
static int64_t read_limit(const char *mount, const char *group, const char *name)
{
    char path[PATH_MAX], text[64];
    struct str rest;
    uint64_t number;

    if (snprintf(path, sizeof(path), "%s%s/%s", mount, group, name) >= (int)sizeof(path) ||
        read_text(path, text, sizeof(text)) == 0)
        return 0;
    rest = str_of(text);
    return digits_take_unsigned(&rest, INT64_MAX / 2, &number) ? (int64_t)number : 0;
}

/* The smallest limit of a cgroup and its ancestors; 0: none. */
static int64_t limit_of(const char *mount, const char *group, const char *name)
{
    char at[PATH_MAX];
    int64_t smallest = 0;

    snprintf(at, sizeof(at), "%s", group);
    for (;;) {
        int64_t limit = read_limit(mount, at, name);
        char *slash = strrchr(at, '/');

        if (limit > 0 && (smallest == 0 || limit < smallest))
            smallest = limit;
        if (!slash)
            return smallest;
        *slash = '\0';
    }
}

int64_t memory_bound_of_cgroup(const char *cgroup, const char *mount)
{
    char lines[TEXT_BYTES], v1[PATH_MAX], *rest = lines;
    int64_t limit = 0;

    snprintf(lines, sizeof(lines), "%s", cgroup);
    snprintf(v1, sizeof(v1), "%s/memory", mount);
    for (char *line; limit == 0 && (line = strsep(&rest, "\n")) != NULL;) {
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;

        if (!group)
            continue;
        *group++ = '\0';
        if (controllers[1] == '\0')
            limit = limit_of(mount, group, "memory.max");
        else if (strcmp(controllers + 1, "memory") == 0)
            limit = limit_of(v1, group, "memory.limit_in_bytes");
    }
    return limit;
}

/* ---- the bound ---- */

static int64_t half_of_the_machine(void)
{
    return (int64_t)sysconf(_SC_PHYS_PAGES) / 2 * sysconf(_SC_PAGESIZE);
}

struct memory_bound memory_bound_find(const char *setting)
{
    char cgroup[TEXT_BYTES];
    int64_t limit;

    if (setting)
        return (struct memory_bound){ parse(setting), MEMORY_BOUND_SETTING };
    read_text("/proc/self/cgroup", cgroup, sizeof(cgroup));
    limit = memory_bound_of_cgroup(cgroup, "/sys/fs/cgroup");
    if (limit > 0 && limit / 5 * 4 < half_of_the_machine() * 2)
        return (struct memory_bound){ limit / 5 * 4, MEMORY_BOUND_CGROUP };
    limit = half_of_the_machine();
    return (struct memory_bound){ limit < default_bytes ? limit : default_bytes, MEMORY_BOUND_DEFAULT };
}

const char *memory_bound_source_name(enum memory_bound_source source)
{
    static const char *const names[] = { "setting", "cgroup", "default" };

    return names[source];
}

static int smaller(int64_t a, int64_t b)
{
    int64_t min = a < b ? a : b;

    return min < INT_MAX ? (int)min : INT_MAX;
}

void memory_bound_set_limits(const struct memory_bound *bound, long long files, struct rpc_limits *limits)
{
    if (limits->connections == 0)
        limits->connections =
            smaller(bound->bytes / CONNECTIONS_SHARE / CONNECTION_BYTES, files > 0 ? files : INT_MAX);
    if (limits->connections_per_address == 0)
        limits->connections_per_address = limits->connections / ADDRESS_SHARE > MIN_PER_ADDRESS
                                              ? limits->connections / ADDRESS_SHARE
                                              : MIN_PER_ADDRESS;
    if (limits->open_calls == 0)
        limits->open_calls = smaller(bound->bytes / OPEN_CALLS_SHARE / OPEN_CALL_BYTES, MAX_OPEN_CALLS);
    if (limits->open_calls_per_connection == 0)
        limits->open_calls_per_connection = OPEN_CALLS_PER_CONNECTION;
    if (limits->streams == 0)
        limits->streams = RPC_STREAMS;
    if (limits->first_call_ms == 0)
        limits->first_call_ms = FIRST_CALL_MS;
}
