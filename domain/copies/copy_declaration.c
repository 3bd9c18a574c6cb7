/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_declaration.c - see the header.
 *
 * A circle is looked for among targets, the properties that rules write. A written target makes
 * others change: those that copy it, all targets of a rule whose dependents are named by it, and the
 * version that a rule copies of the entity. The search follows the changes of each target of the new
 * rule in depth, and enters every target once; a change that comes to a target on the path closes a
 * circle. Rules and their properties are bounded, so it takes a few million comparisons at most.
 */
#include "domain/copies/copy_declaration.h"

#include <stdlib.h>

#include "domain/copies/copy_plan.h"
#include "domain/limits.h"
#include "domain/reason.h"

/* ---- a rule by itself ---- */

static bool names_source(const struct copy_rule *rule, struct str name)
{
    const struct copy_naming_properties naming = copy_plan_naming(rule);

    for (size_t i = 0; i < naming.count; i++)
        if (str_equal(naming.names[i], name))
            return true;
    return false;
}

static enum status check_target(
    const struct copy_rule *rule, struct str target, const char *field, struct error *err)
{
    if (!names_source(rule, target))
        return STATUS_OK;
    (void)reason_set(err, REASON_INVALID_INPUT,
        "%s: %.*s names the source of a dependent, so it cannot be a copy itself", field, STR_ARG(target));
    return error_in_field(err, field);
}

enum status copy_declaration_check(const struct copy_rule *rule, struct error *err)
{
    static const char version_field[] = "index.copies.version_property";

    if (rule->partition_key.is_literal && rule->row_key.is_literal) {
        (void)reason_set(err, REASON_INVALID_INPUT,
            "index.copies.source_partition_key and source_row_key are both literals: at least one is a "
            "property "
            "by which a dependent names its source");
        return error_in_field(err, "index.copies.source_row_key");
    }
    for (size_t i = 0; i < rule->pair_count; i++) {
        TRY(check_target(rule, rule->pairs[i].to, "index.copies.properties", err));
        if (!str_equal(rule->pairs[i].to, rule->version_property))
            continue;
        (void)reason_set(err, REASON_INVALID_INPUT,
            "index.copies.version_property is %.*s, which is a copy: the ETag of the source needs a property "
            "of its "
            "own",
            STR_ARG(rule->version_property));
        return error_in_field(err, version_field);
    }
    return rule->version_property.len > 0 ? check_target(rule, rule->version_property, version_field, err)
                                          : STATUS_OK;
}

/* ---- beside other rules ---- */

enum { MAX_RULES = LIMIT_ACCOUNT_COPY_RULES + 1, MAX_TARGETS = LIMIT_COPY_PROPERTIES + 1 };

struct rules {
    const struct index *indexes[MAX_RULES]; /* the first is the new one */
    size_t count;
};

/* The rules of the account that have not been dropped. false: they are more than allowed. */
static bool collect(const struct catalogue *catalogue, const struct index *index, struct rules *out)
{
    out->indexes[0] = index;
    out->count = 1;
    if (catalogue->copy_rules == 0)
        return true;
    for (const struct table *table = catalogue_after(catalogue, index->account, STR_EMPTY); table;
         table = catalogue_after(catalogue, index->account, table->folded))
        for (size_t i = 0; i < table->index_count; i++) {
            if (!table->indexes[i]->copies)
                continue;
            if (out->count == MAX_RULES)
                return false;
            out->indexes[out->count++] = table->indexes[i];
        }
    return out->count < MAX_RULES;
}

static enum status refuse_conflict(const struct index *with, struct error *err)
{
    error_add_meta(err, "index", with->name);
    return error_in_field(err, "index.copies");
}

static enum status check_shared(const struct rules *rules, struct error *err)
{
    const struct index *index = rules->indexes[0];

    for (size_t i = 1; i < rules->count; i++) {
        const struct index *other = rules->indexes[i];

        if (other->source_table_id != index->source_table_id)
            continue;
        for (size_t k = 0; k < copy_plan_target_count(index->copies); k++) {
            struct str target = copy_plan_target(index->copies, k);

            if (!copy_plan_writes(other->copies, target))
                continue;
            (void)reason_set(err, REASON_COPY_RULE_CONFLICT,
                "the rule of index %.*s keeps %.*s of table %.*s already", STR_ARG(other->name),
                STR_ARG(target), STR_ARG(other->source_name));
            return refuse_conflict(other, err);
        }
    }
    return STATUS_OK;
}

/* A target of a rule, by their numbers. */
struct rule_target {
    size_t rule, target;
};

/* A target whose change is followed: `next` is the first target that has not been looked at. */
struct path_step {
    struct rule_target at, next;
};

enum target_state {
    TARGET_NEW,
    TARGET_OPEN, /* on the path */
    TARGET_DONE, /* it and all that it leads to are on no circle */
};

struct search {
    const struct rules *rules;
    enum target_state states[MAX_RULES][MAX_TARGETS];
    struct path_step path[MAX_RULES * MAX_TARGETS];
    size_t depth;
};

/* The next target that the change of the step's target makes change. false: there is no further one. */
static bool next_target(const struct rules *rules, struct path_step *step, struct rule_target *out)
{
    const struct index *by = rules->indexes[step->at.rule];
    struct str name = copy_plan_target(by->copies, step->at.target);

    for (; step->next.rule < rules->count; step->next = (struct rule_target){ step->next.rule + 1, 0 }) {
        const struct index *index = rules->indexes[step->next.rule];
        const struct copy_rule *copies = index->copies;
        bool is_source = copies->source_table_id == by->source_table_id,
             is_name = index->source_table_id == by->source_table_id && names_source(copies, name);

        while ((is_source || is_name) && step->next.target < copy_plan_target_count(copies)) {
            *out = step->next;
            step->next.target++;
            if (is_name || out->target == copies->pair_count ||
                str_equal(copies->pairs[out->target].from, name))
                return true;
        }
    }
    return false;
}

static enum target_state *state_of(struct search *search, struct rule_target target)
{
    return &search->states[target.rule][target.target];
}

static void enter(struct search *search, struct rule_target target)
{
    *state_of(search, target) = TARGET_OPEN;
    search->path[search->depth++] = (struct path_step){ .at = target };
}

/* Follow the changes of a target. true: they come again to *again, which is on the path. */
static bool find_circle(struct search *search, struct rule_target from, struct rule_target *again)
{
    enter(search, from);
    while (search->depth > 0) {
        struct path_step *last = &search->path[search->depth - 1];

        if (!next_target(search->rules, last, again)) {
            *state_of(search, last->at) = TARGET_DONE;
            search->depth--;
        } else if (*state_of(search, *again) == TARGET_OPEN) {
            return true;
        } else if (*state_of(search, *again) == TARGET_NEW) {
            enter(search, *again);
        }
    }
    return false;
}

/* Name the new rule's target on the circle, and the rule whose copy makes it change. */
static enum status refuse_circle(const struct search *search, struct rule_target again, struct error *err)
{
    const struct path_step *path = search->path;
    size_t first = search->depth - 1, at;

    while (path[first].at.rule != again.rule || path[first].at.target != again.target)
        first--;
    at = first;
    while (at + 1 < search->depth && path[at].at.rule != 0)
        at++;
    const struct path_step *before = &path[(at > first ? at : search->depth) - 1];
    const struct index *index = search->rules->indexes[path[at].at.rule];
    const struct index *closes = search->rules->indexes[before->at.rule];
    struct str target = copy_plan_target(index->copies, path[at].at.target);

    (void)reason_set(err, REASON_COPY_RULE_CONFLICT,
        "the copies would go in a circle: a change of %.*s in table %.*s would change it again, by the rule "
        "of index %.*s",
        STR_ARG(target), STR_ARG(index->source_name), STR_ARG(closes->name));
    return refuse_conflict(closes, err);
}

/* Every circle that the new rule makes goes through one of its targets. */
static enum status check_circle(const struct rules *rules, struct error *err)
{
    struct search *search = xcalloc(1, sizeof(*search));
    enum status status = STATUS_OK;
    struct rule_target again;

    search->rules = rules;
    for (size_t i = 0; i < copy_plan_target_count(rules->indexes[0]->copies) && status == STATUS_OK; i++)
        if (search->states[0][i] == TARGET_NEW && find_circle(search, (struct rule_target){ 0, i }, &again))
            status = refuse_circle(search, again, err);
    free(search);
    return status;
}

/* ---- its tables ---- */

static enum status check_tables(
    const struct catalogue *catalogue, const struct index *index, struct error *err)
{
    const struct table *source = catalogue_find_id(catalogue, index->copies->source_table_id),
                       *dependents = catalogue_find_id(catalogue, index->source_table_id);
    const char *field = NULL;

    if (source->is_wide) {
        field = "index.copies.source_table";
        (void)reason_set(err, REASON_INVALID_INPUT,
            "table %.*s has wide entities, which a copy rule cannot copy from", STR_ARG(source->name));
    } else if (dependents->is_wide || dependents->has_blob_properties) {
        field = "index.table";
        (void)reason_set(err, REASON_INVALID_INPUT, "table %.*s has %s, which a copy rule cannot write",
            STR_ARG(dependents->name), dependents->is_wide ? "wide entities" : "blob_properties");
    }
    return field ? error_in_field(err, field) : STATUS_OK;
}

static enum status refuse_number(const char *what, int64_t limit, struct error *err)
{
    (void)reason_set(
        err, REASON_QUOTA_EXCEEDED, "the %s has %lld copy rules, and no more may be", what, (long long)limit);
    error_add_meta(err, "what", STR_LITERAL("copy rules"));
    error_add_meta_int(err, "limit", limit);
    return err->status;
}

static enum status check_followers(
    const struct catalogue *catalogue, const struct copy_rule *rule, struct error *err)
{
    int count = 0;

    for (const struct index *follower = catalogue_next_follower(catalogue, rule->source_table_id, 0);
         follower; follower = catalogue_next_follower(catalogue, rule->source_table_id, follower->index_id))
        count++;
    return count < LIMIT_COPY_FOLLOWERS ? STATUS_OK
                                        : refuse_number("source table", LIMIT_COPY_FOLLOWERS, err);
}

enum status copy_declaration_check_with(
    const struct catalogue *catalogue, const struct index *index, struct error *err)
{
    struct rules rules;

    TRY(check_tables(catalogue, index, err));
    if (!collect(catalogue, index, &rules))
        return refuse_number("account", LIMIT_ACCOUNT_COPY_RULES, err);
    TRY(check_followers(catalogue, index->copies, err));
    TRY(check_shared(&rules, err));
    return check_circle(&rules, err);
}

enum status copy_declaration_check_delete(
    const struct catalogue *catalogue, const struct table *table, struct error *err)
{
    for (const struct index *follower = catalogue_next_follower(catalogue, table->table_id, 0); follower;
         follower = catalogue_next_follower(catalogue, table->table_id, follower->index_id)) {
        if (follower->source_table_id == table->table_id)
            continue;
        (void)reason_set(err, REASON_COPY_RULE_CONFLICT,
            "table %.*s has copies of the entities of %.*s, by the rule of index %.*s: drop the index first",
            STR_ARG(follower->source_name), STR_ARG(table->name), STR_ARG(follower->name));
        error_add_meta(err, "index", follower->name);
        return err->status;
    }
    return STATUS_OK;
}

enum status copy_declaration_check_blobs(const struct table *table, struct error *err)
{
    for (size_t i = 0; i < table->index_count; i++) {
        if (!table->indexes[i]->copies)
            continue;
        (void)reason_set(err, REASON_COPY_RULE_CONFLICT,
            "the rule of index %.*s writes copies into table %.*s, so the table cannot have blob_properties",
            STR_ARG(table->indexes[i]->name), STR_ARG(table->name));
        error_add_meta(err, "index", table->indexes[i]->name);
        return err->status;
    }
    return STATUS_OK;
}
