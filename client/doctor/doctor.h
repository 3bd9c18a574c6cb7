/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.h - the checks of `tavola doctor`. Each check adds its findings, and continues after a failure if it
 * can. If the setting of a part is missing, that is a note. Nothing is changed, except that the probe makes
 * and deletes a table, and that of the chunks bytes.
 */
#ifndef CLIENT_DOCTOR_DOCTOR_H
#define CLIENT_DOCTOR_DOCTOR_H

#include "client/client_config.h"
#include "client/doctor/findings.h"
#include "domain/database/fact.h"

/* TAVOLA_POSTGRES: whether the programs can use it; its settings; what holds vacuum back; its clock. */
void doctor_check_postgres(const struct client_config *config, struct findings *out);

/* The room left on the database's disk, as far as these facts about the database let it be known. */
void doctor_check_disk(const struct facts *facts, struct findings *out);

/* TAVOLA_REDIS: its settings and its clock. */
void doctor_check_redis(const struct client_config *config, struct findings *out);

/* Where chunks of blobs may be outside of the database: whether bytes can be put, read and removed there. */
void doctor_check_chunks(const struct client_config *config, struct findings *out);

/*
 * How long the certificates last: those in the PEM files of the settings, and the one that TAVOLA_TARGET
 * presents.
 */
void doctor_check_certificates(const struct client_config *config, struct findings *out);

/*
 * TAVOLA_TARGET: whether it serves, and whether it refuses callers without a token if other machines can
 * reach it. false: it does not serve.
 */
bool doctor_check_server(const struct client_config *config, struct findings *out);

/*
 * Create a table and an index, write an entity, find it by the index, delete it by a transaction, and delete
 * the table. Each step's duration is reported. A step that fails ends the probe; the table is deleted in any
 * case.
 */
void doctor_probe(const struct client_config *config, struct findings *out);

/* The time of this machine's clock, in seconds since 1970. */
double doctor_clock(void);

/* Compare this machine's clock with the clock of a part: a difference of more than a second is a finding. */
void doctor_compare_clocks(const char *part, double theirs, double ours, struct findings *out);

/* Add a note: the part was not checked, because its setting is missing. */
void doctor_leave_out(const char *part, const char *setting, struct findings *out);

#endif
