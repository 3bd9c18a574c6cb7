/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database_facts.h - reads what an operator needs to know about the database: settings,
 * connections, old transactions, dead rows.
 */
#ifndef STORE_CONNECTION_DATABASE_FACTS_H
#define STORE_CONNECTION_DATABASE_FACTS_H

#include "domain/database/fact.h"
#include "store/connection/pg.h"

/*
 * Read the facts of sql/database_facts.sql into the arena. A fact that this role may not see, or
 * that does not apply, is left out. Fails as pg_ensure and pg_query do.
 */
MUST_USE enum status database_facts_read(
    struct pg *pg, struct arena *arena, struct facts *out, struct error *err);

#endif
