/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.h - the checks of `tavola doctor`. Each adds what it has found, and goes on where it can; a part whose setting is
 * missing is a note. Nothing is changed, but for the table that the probe makes and deletes.
 */
#ifndef CLIENT_DOCTOR_DOCTOR_H
#define CLIENT_DOCTOR_DOCTOR_H

#include "client/client_config.h"
#include "client/doctor/findings.h"

/* TAVOLA_POSTGRES: whether the programs work on it, its settings, what is in the way of vacuum, its clock beside this machine's. */
void doctor_check_postgres(const struct client_config *config, struct findings *out);

/* TAVOLA_REDIS: its settings and its clock. */
void doctor_check_redis(const struct client_config *config, struct findings *out);

/* The files in PEM that this program uses, and the certificate that TAVOLA_TARGET shows: how long they last. */
void doctor_check_certificates(const struct client_config *config, struct findings *out);

/* TAVOLA_TARGET: does it serve, and does it refuse callers without a token where others can reach it? false: it does not serve. */
bool doctor_check_server(const struct client_config *config, struct findings *out);

/*
 * Create a table and an index, write an entity, find it, delete it by a transaction, and delete the table: each step with its
 * time. A step that fails ends the probe; the table is deleted in any case.
 */
void doctor_probe(const struct client_config *config, struct findings *out);

/* This machine's clock, in seconds since 1970. */
double doctor_clock(void);

/* This machine's clock and the clock of a part: a finding if they are more than a second apart. */
void doctor_compare_clocks(const char *part, double theirs, double ours, struct findings *out);

/* A part that is not checked, because this setting is missing. */
void doctor_leave_out(const char *part, const char *setting, struct findings *out);

#endif
