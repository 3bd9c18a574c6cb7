/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_disk.c - the room that is left on the database's disk. PostgreSQL does not tell it. It is
 * known only if the database runs on this machine (the connection is a Unix socket) and its data
 * folder can be reached.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include "client/doctor/doctor.h"
#include "client/doctor/rules.h"

#define PART "PostgreSQL"

enum { FACT_BYTES = 32, PATH_BYTES = 1024, DISK_FACTS = 2 };

/* The free bytes of the file system that has the folder, and their share. false: not known. */
static bool read_free(const char *folder, double *bytes, double *percent)
{
    struct statvfs disk;

    if (statvfs(folder, &disk) != 0 || disk.f_blocks == 0)
        return false;
    *bytes = fmin(*bytes, (double)disk.f_bavail * (double)disk.f_frsize);
    *percent = fmin(*percent, 100.0 * (double)disk.f_bavail / (double)disk.f_blocks);
    return true;
}

static void add_unknown(const char *folder, struct findings *out)
{
    char what[PATH_BYTES + 64];

    snprintf(what, sizeof(what), "the room left on its disk is unknown: %s",
        *folder ? folder : "the role may not read the setting data_directory");
    findings_add(out,
        &(struct finding){ .severity = SEVERITY_NOTE,
            .part = STR_LITERAL(PART),
            .what = str_of(what),
            .why = STR_LITERAL("a database whose disk is full takes no writes, and may stop"),
            .remedy = STR_LITERAL("on the database's machine: df -h \"$(psql -Atc 'show data_directory')\"; "
                                  "let the monitoring of the machine raise an alarm at 10 %") });
}

static void copy_fact(const struct facts *facts, const char *name, char *out, size_t bytes)
{
    snprintf(out, bytes, "%.*s", STR_ARG(rules_fact(facts, name)));
}

void doctor_check_disk(const struct facts *facts, struct findings *out)
{
    char folder[PATH_BYTES], wal[PATH_BYTES + 8], values[DISK_FACTS][FACT_BYTES], size[FACT_BYTES];
    double bytes = INFINITY, percent = INFINITY;
    struct fact items[DISK_FACTS] = { { STR_LITERAL("disk_free_percent"), STR_EMPTY },
        { STR_LITERAL("disk_free_percent_of_max_wal_size"), STR_EMPTY } };
    const struct facts disk = { items, DISK_FACTS };

    copy_fact(facts, "data_directory", folder, sizeof(folder));
    copy_fact(facts, "max_wal_size", size, sizeof(size));
    if (!str_equal(rules_fact(facts, "over_unix_socket"), str_of("true")) || !*folder ||
        !read_free(folder, &bytes, &percent)) {
        add_unknown(folder, out);
        return;
    }
    snprintf(wal, sizeof(wal), "%s/pg_wal", folder);
    (void)read_free(wal, &bytes, &percent); /* it may be a file system of its own */
    snprintf(values[0], FACT_BYTES, "%.0f", percent);
    snprintf(values[1], FACT_BYTES, "%.0f", 100 * bytes / fmax(1, atof(size)));
    items[0].value = str_of(values[0]);
    items[1].value = str_of(values[1]);
    rules_apply(&rules_of_disk, &disk, out);
}
