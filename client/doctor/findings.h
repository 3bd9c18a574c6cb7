/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.h - the findings of `tavola doctor`, and how they are printed.
 */
#ifndef CLIENT_DOCTOR_FINDINGS_H
#define CLIENT_DOCTOR_FINDINGS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/str.h"

enum severity {
    SEVERITY_OK,      /* checked, and in order */
    SEVERITY_NOTE,    /* could not be checked, or could be better */
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

/* Add a finding; its texts are copied. */
void findings_add(struct findings *findings, const struct finding *finding);

/* Add a finding of severity OK. */
void findings_add_ok(struct findings *findings, const char *part, const char *what);

/* The highest severity; SEVERITY_OK if there is none. */
enum severity findings_worst(const struct findings *findings);

/*
 * Print the findings in the order in which they were added; those of severity OK only with `all`. width:
 * columns of the terminal, at least 40.
 */
void findings_print(const struct findings *findings, bool all, int width, FILE *out);

/*
 * Print all findings as one JSON object: {"worst": "warning", "findings": [{"severity", "part", "what",
 * "why", "remedy"}]}.
 */
void findings_print_json(const struct findings *findings, FILE *out);

#endif
