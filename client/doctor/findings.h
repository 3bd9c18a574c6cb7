/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.h - what `tavola doctor` has checked and found, and how it is printed.
 */
#ifndef CLIENT_DOCTOR_FINDINGS_H
#define CLIENT_DOCTOR_FINDINGS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/str.h"

enum severity {
    SEVERITY_OK,      /* looked at, and as it should be */
    SEVERITY_NOTE,    /* could not be looked at, or could be better */
    SEVERITY_WARNING, /* will become a problem, or costs speed */
    SEVERITY_PROBLEM, /* a promise does not hold, or something does not work */
    SEVERITIES,
};

struct finding {
    enum severity severity;
    struct str part;   /* "PostgreSQL", "Redis", "server", "probe", "certificates" */
    struct str what;   /* one sentence without a full stop */
    struct str why;    /* why it matters; empty for SEVERITY_OK */
    struct str remedy; /* a command, or what to do; empty for SEVERITY_OK */
};

struct findings {
    struct arena *arena;
    struct finding *items;
    size_t count, room;
};

void findings_init(struct findings *findings, struct arena *arena);

/* Add one; all texts are copied. */
void findings_add(struct findings *findings, const struct finding *finding);

/* Add one of severity OK. */
void findings_add_ok(struct findings *findings, const char *part, const char *what);

/* The highest severity; SEVERITY_OK if there is none. */
enum severity findings_worst(const struct findings *findings);

/* In the order in which they were added; those that are OK only with `all`. Width: columns of the terminal, at least 40. */
void findings_print(const struct findings *findings, bool all, int width, FILE *out);

/* One JSON object: {"worst": "warning", "findings": [{"severity", "part", "what", "why", "remedy"}]}, all of them. */
void findings_print_json(const struct findings *findings, FILE *out);

#endif
