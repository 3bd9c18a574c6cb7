/* SPDX-License-Identifier: Apache-2.0 */
/* schema_version.h - the versions of the database's schema: the number with which a migration's name begins. */
#ifndef STORE_CONNECTION_SCHEMA_VERSION_H
#define STORE_CONNECTION_SCHEMA_VERSION_H

#include "base/embedded.h"

/* The version that a database has after this migration. */
int schema_version_of(const struct embedded *migration);

/* The version a database must have for this program. */
int schema_version_wanted(void);

#endif
