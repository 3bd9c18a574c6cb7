/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_violations.h - tells of the entities that have no entry in an index that was built.
 */
#ifndef CLIENT_INDEX_VIOLATIONS_H
#define CLIENT_INDEX_VIOLATIONS_H

#include "client/lib/tavola.h"

/*
 * Print on standard error how many entities of the table have no entry in the index, why, and how they are found.
 *
 * COMMAND_OK      every entity that should have an entry has one, or it is not known; standard error says so then
 * COMMAND_PARTLY  some have none
 */
int index_violations_report(struct tavola *client, const char *index, const char *table);

#endif
