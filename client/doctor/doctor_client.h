/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_client.h - the client of libtavola with which the doctor calls the server. */
#ifndef CLIENT_DOCTOR_DOCTOR_CLIENT_H
#define CLIENT_DOCTOR_DOCTOR_CLIENT_H

#include "client/client_config.h"
#include "client/lib/tavola.h"

/* A client with the settings' credential, or with none. NULL: see *error. tavola_close ends it. */
struct tavola *doctor_client_open(
    const struct client_config *config, bool with_credential, struct tavola_error *error);

/* "NOT_FOUND / TABLE_NOT_FOUND: ...", to print. */
void doctor_client_describe(const struct tavola_error *error, char *out, size_t size);

#endif
