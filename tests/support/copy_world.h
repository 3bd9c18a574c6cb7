/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_world.h - a world for tests of copy rules.
 *
 * The entities of People name their manager, an entity of Managers in partition "acme", by the property Manager. They
 * get a copy of the manager's property Name in Boss.
 */
#ifndef TESTS_SUPPORT_COPY_WORLD_H
#define TESTS_SUPPORT_COPY_WORLD_H

#include "tests/support/worker_world.h"

enum { MANAGERS = 1100, RULE = 2100 };

/* A world with the tables People and Managers, and no rule. */
void copy_world_open(struct world *world);

/* The rule above. */
struct copy_rule copy_world_rule(void);

/* An index of People with this rule, in state READY. */
void copy_world_add_rule(struct world *world, int64_t index_id, const struct copy_rule *rule);

/* Properties with 960,000 bytes, Part00 and so on, for an entity that is nearly as large as one may be. */
struct property_list copy_world_ballast(struct world *world);

#endif
