/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_plan.h - what a copy rule asks of one dependent: which source it names, which copies it
 * should have, and which writes of a dependent or of a source make work.
 *
 * A source exists as long as its row is live, also if it has expired: its copies are removed when it
 * is deleted. So a plan depends on what is stored, and on no clock.
 *
 * Pure.
 */
#ifndef DOMAIN_COPIES_COPY_PLAN_H
#define DOMAIN_COPIES_COPY_PLAN_H

#include <stdbool.h>

#include "base/arena.h"
#include "domain/catalogue/catalogue.h"
#include "domain/entities/row_state.h"
#include "domain/keys/entity_key.h"

/* What a dependent says about its source. */
enum copy_naming {
    COPY_NAMES_NOTHING,   /* a naming property is missing, or is not a String: it has no copies */
    COPY_NAMES_KEY,       /* a key, of which an entity may exist */
    COPY_NAMES_NO_ENTITY, /* texts that no entity can have as its keys: the source does not exist */
};

/*
 * The source that a live dependent in this state names. out is set for COPY_NAMES_KEY; it borrows
 * from the rule, the key and the state.
 */
enum copy_naming copy_plan_source(const struct copy_rule *rule, const struct entity_key *key,
    const struct row_state *state, struct entity_key *out);

/*
 * The properties of the dependent that name its source, in the order of the keys, each once: the
 * parts of the partition key of the rule's index.
 */
struct copy_naming_properties {
    struct str names[2];
    size_t count;
};
struct copy_naming_properties copy_plan_naming(const struct copy_rule *rule);

/*
 * The texts that these properties have in every dependent of a source, in the same order. false: no
 * dependent can name the source.
 */
bool copy_plan_texts(
    const struct copy_rule *rule, const struct entity_key *source, struct str texts[static 2]);

/* The properties of its dependents that the rule writes: those of the pairs, and behind them that for the ETag. */
size_t copy_plan_target_count(const struct copy_rule *rule);
struct str copy_plan_target(const struct copy_rule *rule, size_t target);

/* Whether the rule writes this property of its dependents. */
bool copy_plan_writes(const struct copy_rule *rule, struct str name);

/* A dependent and its source, as they are stored. */
struct copy_case {
    const struct entity_key *key;
    const struct row_state *dependent; /* live, with all its properties */
    enum copy_naming naming;           /* from copy_plan_source */
    const struct entity_key *source;   /* COPY_NAMES_KEY */
    const struct row_state *state;     /* of the source, live; NULL: it does not exist */
};

/* How a stored copy differs from what the rule asks for. */
enum copy_fault { COPY_MISSING, COPY_WRONG, COPY_SUPERFLUOUS };

struct copy_difference {
    struct str name; /* of the dependent's property */
    enum copy_fault fault;
};

struct copy_plan {
    struct copy_difference *differences; /* sorted by name */
    size_t count;                        /* 0: the copies are right */
    /* all properties of the dependent with the right copies; unchecked: property_list_check */
    struct property_list properties;
};

/* Plan the copies of one dependent; out is in the arena, and borrows from facts. */
void copy_plan(
    const struct copy_rule *rule, const struct copy_case *facts, struct arena *arena, struct copy_plan *out);

/*
 * Whether a write that takes the dependent from `before` to `after` needs an intent, so that a
 * worker looks at its copies: it is new, or names another source, or a copy was changed; it was so
 * large that its copies may have been refused; or it was deleted, and may leave a dead letter. It is
 * not asked of the write that the rule's own worker makes.
 */
bool copy_plan_asks(const struct copy_rule *rule, const struct entity_key *key,
    const struct row_state *before, const struct row_state *after);

/*
 * Whether a write that takes the source from `before` to `after` needs an intent, so that its
 * dependents are visited. Dependents may name a source that does not exist yet; but no dependent
 * names an entity whose keys differ from the rule's literals.
 */
bool copy_plan_visits(const struct copy_rule *rule, const struct entity_key *key,
    const struct row_state *before, const struct row_state *after);

#endif
