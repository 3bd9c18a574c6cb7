/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_plan.c - see the header.
 */
#include "domain/writes/write_plan.h"

#include <stdio.h>

#include "base/numbers.h"
#include "domain/copies/copy_plan.h"
#include "domain/filter/filter.h"
#include "domain/indexes/index_plan.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/writes/held_blobs.h"
#include "domain/writes/unique_owners.h"

/* For each kind of write: what it requires of the stored entity, and what it makes of it. */
static const struct write_rule {
    bool must_exist;
    bool must_be_absent;
    /* if the entity is absent, the write succeeds without effect, unless it has a precondition */
    bool absent_is_done;
    bool only_due; /* deletes an expired entity only; leaving any other is a success */
    bool merges;
    bool deletes;
} rules[] = {
    [WRITE_INSERT] = { .must_be_absent = true },
    [WRITE_REPLACE] = { .must_exist = true },
    [WRITE_MERGE] = { .must_exist = true, .merges = true },
    [WRITE_INSERT_OR_REPLACE] = { 0 },
    [WRITE_INSERT_OR_MERGE] = { .merges = true },
    [WRITE_DELETE] = { .must_exist = true, .deletes = true },
    [WRITE_DELETE_IF_EXISTS] = { .absent_is_done = true, .deletes = true },
    [WRITE_EXPIRE] = { .absent_is_done = true, .only_due = true, .deletes = true },
};

/* Add the entity's key to the error, whose status is returned. */
static enum status add_key(const struct write *write, struct error *err)
{
    error_add_meta(err, "partition_key", write->key.partition);
    error_add_meta(err, "row_key", write->key.row);
    return err->status;
}

static enum status add_etag(const struct write *write, struct etag etag, struct error *err)
{
    char text[ETAG_BYTES];

    etag.key = etag_key(&write->key);
    error_add_meta(err, "actual", str_of_bytes(text, etag_format(etag, text)));
    return add_key(write, err);
}

static enum status check_filter(
    const struct row_state *current, const struct write *write, struct etag etag, struct error *err)
{
    const struct entity entity = { .key = write->key,
        .etag = etag,
        .timestamp = current->ts,
        .properties = current->properties,
        .expires = current->expires };
    const struct filter *filter = write->condition.filter;
    struct str clause;

    if (filter_matches(filter, &entity))
        return STATUS_OK;
    clause = filter_failing_clause(filter, &entity);
    reason_set(err, REASON_UPDATE_CONDITION_NOT_SATISFIED,
        "the entity does not meet the condition of the precondition: %.*s", STR_ARG(clause));
    error_add_meta(err, "clause", clause);
    return add_etag(write, etag, err);
}

static enum status check_condition(
    const struct row_state *current, const struct write *write, int64_t table_id, struct error *err)
{
    const struct write_rule *rule = &rules[write->kind];
    struct etag etag = { .table_id = table_id, .version = current->version };

    if (write->condition.etag.key != 0)
        etag.key = etag_key(&write->key);

    if (current->live && rule->must_be_absent) {
        reason_set(err, REASON_ENTITY_ALREADY_EXISTS, "the entity already exists");
        return add_key(write, err);
    }
    if (!current->live && (rule->must_exist || condition_is_set(&write->condition))) {
        reason_set(err, REASON_RESOURCE_NOT_FOUND, "the entity does not exist");
        return add_key(write, err);
    }
    if (current->live && write->condition.kind == CONDITION_MATCHES &&
        !etag_equal(write->condition.etag, etag)) {
        reason_set(err, REASON_UPDATE_CONDITION_NOT_SATISFIED,
            "the entity has changed, or the ETag in the precondition belongs to another entity");
        return add_etag(write, etag, err);
    }
    return current->live ? check_filter(current, write, etag, err) : STATUS_OK;
}

/* What was too large for most tables when it was parsed, if it is too large for this one. */
static enum status check_excess(
    const struct write *write, const struct write_context *context, struct error *err)
{
    const struct property_excess *excess = write->excess;
    const struct error *refusal = !excess            ? NULL
                                  : context->is_wide ? excess->in_wide_table
                                                     : excess->in_table;

    if (!refusal)
        return STATUS_OK;
    *err = *refusal;
    return add_key(write, err);
}

bool write_plan_merges(enum write_kind kind)
{
    return rules[kind].merges;
}

struct row_state write_plan_visible(const struct row_state *stored, bool due)
{
    return due ? (struct row_state){ .version = stored->version, .ts = stored->ts, .due = true } : *stored;
}

enum status write_plan_one(const struct row_state *current, const struct write *write,
    const struct write_context *context, struct row_state *next, struct write_result *result,
    struct error *err)
{
    const struct write_rule *rule = &rules[write->kind];
    struct row_state planned = {
        .live = !rule->deletes,
        .version = numbers_max(current->version, context->clock.floor) + 1,
        .ts = numbers_max(current->ts + 1, context->clock.ticks),
        .properties = write->properties,
        .expires = write->expires,
    };

    TRY(check_excess(write, context, err));
    TRY(check_condition(current, write, context->table_id, err));
    if (rule->only_due ? !current->due : !current->live && rule->absent_is_done) {
        *next = *current;
        *result = (struct write_result){ 0 };
        return STATUS_OK;
    }
    if (rule->merges && current->live) {
        if (planned.expires == 0)
            planned.expires = current->expires;
        planned.properties = property_list_merge(current->properties, write->properties, context->arena);
        planned.rest = current->rest;
    }
    if (context->is_wide)
        TRY(property_list_check_wide(planned.properties, planned.rest, err));
    else if (rule->merges && current->live)
        TRY(property_list_check(planned.properties, &write->key, err));
    *next = planned;
    *result = (struct write_result){ 0 };
    if (planned.live)
        *result =
            (struct write_result){ .etag = { context->table_id, planned.version, etag_key(&write->key) },
                .timestamp = planned.ts };
    return STATUS_OK;
}

struct row_state write_plan_offer(const struct write *first, const struct write_context *context)
{
    const struct write_rule *rule = &rules[first->kind];
    const struct row_state absent = { 0 };
    const struct row_state dead = { .version = context->clock.floor + 1, .ts = context->clock.ticks };
    struct row_state offered;
    struct write_result result;
    struct error ignored;

    if (rule->must_exist || rule->deletes || condition_is_set(&first->condition) ||
        write_plan_one(&absent, first, context, &offered, &result, &ignored) != STATUS_OK)
        return dead;
    return context->is_wide && offered.properties.bytes.len > PARTS_MAX_WHOLE_BYTES ? dead : offered;
}

/* Say which operation of an entity group transaction failed, in the message and in the metadata. */
static void name_operation(struct error *err, size_t index)
{
    struct error named = *err;

    snprintf(named.message, sizeof(named.message), "%zu:%.*s", index, (int)sizeof(named.message) - 24,
        err->message);
    error_add_meta_int(&named, "operation_index", (int64_t)index);
    *err = named;
}

/*
 * Add the stored entity to the outcome of a condition that failed, if the entity is small enough.
 */
static const struct entity *current_entity(const struct plan_row *row, const struct row_state *current,
    const struct write *write, struct arena *arena)
{
    struct entity *entity;

    if (!current->live || write->condition.text.len == 0 || current->rest.count > 0 ||
        current->properties.bytes.len > LIMIT_ERROR_ENTITY_BYTES)
        return NULL;
    entity = ARENA_NEW(arena, struct entity);
    *entity = (struct entity){ .key = write->key,
        .etag = { .table_id = row->table->table_id, .version = current->version },
        .timestamp = current->ts,
        .properties = { arena_copy(arena, current->properties.bytes) },
        .expires = current->expires };
    return entity;
}

/*
 * If an index refuses entities that cannot have their entry, the error names the property that
 * causes it, never its value.
 */
static enum status check_entries(
    const struct plan_row *row, const struct row_state *next, struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < row->table->index_count && next->live; i++) {
        const struct index *index = row->table->indexes[i];
        const char *why;

        if (index->on_violation != VIOLATION_REJECT ||
            !index_plan_violates(index, &row->key, next, arena, &why))
            continue;
        reason_set(err, REASON_INDEX_KEY_VIOLATION, "index %.*s: %s", STR_ARG(index->name), why);
        error_add_meta(err, "index", index->name);
        error_add_meta(err, "partition_key", row->key.partition);
        error_add_meta(err, "row_key", row->key.row);
        return err->status;
    }
    return STATUS_OK;
}

/*
 * An entity that an earlier write of the batch has left may have expired already: for the next
 * write it does not exist.
 */
static enum status plan_next(const struct row_state *before, const struct write *write, struct plan_row *row,
    const struct write_context *context, struct write_result *result, struct error *err)
{
    struct row_state gone, next;
    enum status status;

    if (before->expires != 0 && before->expires <= context->clock.due) {
        gone = write_plan_visible(before, true);
        before = &gone;
    }
    status = write_plan_one(before, write, context, &next, result, err);
    if (status == STATUS_OK)
        status = check_entries(row, &next, context->arena, err);
    if (status == STATUS_OK)
        status = held_blobs_check(row, &next, err);
    if (status == STATUS_OK)
        row->now = next;
    else
        error_add_meta(err, "table", row->table->name);
    return status;
}

/*
 * Refuse an operation because its write i is refused: the writes that were planned before it are
 * undone.
 */
static void refuse_atomic(struct operation *operation, struct plan_row *const *rows,
    const struct row_state *before, size_t i, struct error *err)
{
    const struct operation_write *in = &operation->in.write;

    if (in->is_group)
        name_operation(err, i);
    operation->out.write = (struct outcome_write){ 0 };
    if (err->status == STATUS_STALE)
        operation->out.write.current = current_entity(rows[i], &before[i], &in->writes[i], operation->arena);
    operation_fail(operation, err);
}

static struct write_context context_of(
    const struct plan_row *row, struct write_clock clock, const struct operation *operation)
{
    return (struct write_context){ row->table->table_id, clock, row->arena ? row->arena : operation->arena,
        row->table->is_wide };
}

/* Plan an atomic operation. If a write fails, the writes that were planned before it are undone. */
static void plan_atomic(struct operation *operation, struct plan_row *const *rows, struct write_clock clock)
{
    const struct operation_write *in = &operation->in.write;
    struct row_state *before = ARENA_ARRAY(operation->arena, struct row_state, in->count);
    struct write_result *results = ARENA_ARRAY(operation->arena, struct write_result, in->count);
    struct unique_step step;
    struct error err;
    size_t failed = 0;

    for (size_t i = 0; i < in->count; i++) {
        const struct write_context context = context_of(rows[i], clock, operation);
        enum status status;

        before[i] = rows[i]->now;
        status = plan_next(&before[i], &in->writes[i], rows[i], &context, &results[i], &err);
        if (status == STATUS_OK)
            continue;
        refuse_atomic(operation, rows, before, i, &err);
        while (i-- > 0)
            rows[i]->now = before[i];
        return;
    }
    step = (struct unique_step){ rows, before, in->count, operation, clock.due };
    if (unique_owners_take(&step, &failed, &err) != STATUS_OK) {
        error_add_meta(&err, "table", rows[failed]->table->name);
        refuse_atomic(operation, rows, before, failed, &err);
        for (size_t i = 0; i < in->count; i++)
            rows[i]->now = before[i];
        return;
    }
    operation->out.write = (struct outcome_write){ .results = results };
    operation->status = STATUS_OK;
    operation->error = NULL;
}

/* Plan the writes of an import, each by itself. */
static void plan_each(struct operation *operation, struct plan_row *const *rows, struct write_clock clock)
{
    const struct operation_write *in = &operation->in.write;
    struct write_result *results = ARENA_ARRAY(operation->arena, struct write_result, in->count);
    struct error **errors = ARENA_ARRAY(operation->arena, struct error *, in->count);

    for (size_t i = 0; i < in->count; i++) {
        const struct write_context context = context_of(rows[i], clock, operation);
        struct row_state before = rows[i]->now;
        const struct unique_step step = { &rows[i], &before, 1, operation, clock.due };
        struct error err;
        size_t failed;

        if (plan_next(&before, &in->writes[i], rows[i], &context, &results[i], &err) == STATUS_OK &&
            unique_owners_take(&step, &failed, &err) == STATUS_OK)
            continue;
        rows[i]->now = before;
        errors[i] = ARENA_NEW(operation->arena, struct error);
        *errors[i] = err;
    }
    operation->out.write = (struct outcome_write){
        .results = results, .errors = errors, .table_id = in->count > 0 ? rows[0]->table->table_id : 0
    };
    operation->status = STATUS_OK;
    operation->error = NULL;
}

void write_plan_operation(struct operation *operation, struct plan_row *const *rows, struct write_clock clock)
{
    if (operation->in.write.atomic)
        plan_atomic(operation, rows, clock);
    else
        plan_each(operation, rows, clock);
}

static bool same_row(const struct row_state *a, const struct row_state *b)
{
    return a->version == b->version && a->live == b->live &&
           a->properties.bytes.data == b->properties.bytes.data && a->expires == b->expires;
}

enum row_action write_plan_action(const struct plan_row *row)
{
    if (row->created && row->now.version == 0)
        return ROW_REMOVE;
    if (!row->created)
        return row->now.version == row->stored.version ? ROW_KEEP : ROW_UPDATE;
    return same_row(&row->now, &row->offered) ? ROW_KEEP : ROW_UPDATE;
}

enum feed_change_kind write_plan_change(const struct plan_row *row)
{
    static const enum feed_change_kind kinds[2][2] = {
        { CHANGE_NONE, CHANGE_INSERTED },
        { CHANGE_DELETED, CHANGE_UPDATED },
    };

    if (row->now.version == row->stored.version)
        return CHANGE_NONE;
    return kinds[row->stored.live][row->now.live];
}

bool write_plan_leaves_out(const struct plan_row *row)
{
    const struct row_state *now = &row->now;

    return row->table->is_wide && now->live &&
           (now->rest.count > 0 || now->properties.bytes.len > PARTS_MAX_WHOLE_BYTES);
}

/* An entity that does not own its value counts as one that cannot have its entry. */
static bool changes_owner(const struct index *index, const struct plan_row *row, struct arena *arena)
{
    const struct unique_standing standing = unique_owners_standing(index, row, arena);

    return (standing.had_value && !standing.was_owner) || (standing.has_value && !standing.is_owner);
}

static bool changes_entries(const struct plan_row *row, struct arena *arena)
{
    for (size_t i = 0; i < row->table->index_count; i++) {
        const struct index *index = row->table->indexes[i];

        if (index_plan_affects(index, &row->key, &row->stored, &row->now, arena) ||
            (index->is_unique && changes_owner(index, row, arena)))
            return true;
    }
    return false;
}

/*
 * Asked by every operation of a batch, and at the end by the batch; the result is kept, since most
 * rows are written once.
 */
bool write_plan_needs_intent(struct plan_row *row, struct arena *arena)
{
    if (row->now.version == row->stored.version)
        return false;
    if (row->judged != row->now.version) {
        row->needs_intent = changes_entries(row, arena);
        row->judged = row->now.version;
    }
    return row->needs_intent;
}

/* Asked about a state that differs in the version alone: what changes more needs an intent too. */
bool write_plan_always_needs_intent(const struct plan_row *row, struct arena *arena)
{
    struct row_state before = row->offered;

    before.version--;
    for (size_t i = 0; i < row->table->index_count; i++)
        if (index_plan_affects(row->table->indexes[i], &row->key, &before, &row->offered, arena))
            return true;
    return false;
}

void write_plan_take_upsert(struct plan_row *row, int64_t version, int64_t ts)
{
    row->now.version = version;
    row->now.ts = ts;
    row->needs_intent = row->table->index_count > 0;
    row->judged = version;
}

size_t write_plan_rule_slots(const struct plan_row *row)
{
    size_t slots = row->rules ? row->rules->follower_count : 0;

    for (size_t i = 0; row->rules && i < row->table->index_count; i++)
        slots += row->table->indexes[i]->copies != NULL;
    return slots;
}

static bool has_copied_part(const struct key_parts *parts, const struct copy_rule *rule)
{
    for (size_t i = 0; i < parts->count; i++)
        if (!parts->parts[i].is_literal && copy_plan_writes(rule, parts->parts[i].text))
            return true;
    return false;
}

/* Whether the index may refuse an entity because of its copies. */
static bool may_refuse_copies(const struct index *index, const struct copy_rule *rule)
{
    return (index->is_unique || index->on_violation == VIOLATION_REJECT) &&
           (index->filter || has_copied_part(&index->partition_key, rule) ||
               has_copied_part(&index->row_key, rule));
}

/* Whether an index may have refused the copies of the entity as it was, and may let them in as it is now. */
static bool may_be_let_in(const struct copy_rule *rule, const struct plan_row *row)
{
    struct entity_key ignored;

    if (!row->now.live || copy_plan_source(rule, &row->key, &row->now, &ignored) != COPY_NAMES_KEY)
        return false;
    for (size_t i = 0; i < row->table->index_count; i++)
        if (may_refuse_copies(row->table->indexes[i], rule))
            return true;
    return false;
}

/* The write that a rule's worker makes needs no look by the same rule. */
static bool asks_for_copies(const struct index *index, const struct plan_row *row)
{
    return row->copied_by != index->index_id &&
           (copy_plan_asks(index->copies, &row->key, &row->stored, &row->now) ||
               may_be_let_in(index->copies, row));
}

size_t write_plan_rule_work(const struct plan_row *row, struct rule_work out[static MAX_RULE_WORK])
{
    const struct row_rules *of_row = row->rules;
    size_t count = 0;
    uint32_t slot = 0;

    if (!of_row || row->now.version == row->stored.version)
        return 0;
    for (size_t i = 0; i < row->table->index_count; i++) {
        const struct index *index = row->table->indexes[i];

        if (index->copies && asks_for_copies(index, row))
            out[count++] = (struct rule_work){ INTENT_COPY, index->index_id, slot };
        slot += index->copies != NULL;
    }
    for (size_t i = 0; i < of_row->follower_count && slot < MAX_RULE_WORK; i++, slot++)
        if (copy_plan_visits(of_row->followers[i]->copies, &row->key, &row->stored, &row->now))
            out[count++] = (struct rule_work){ INTENT_VISIT, of_row->followers[i]->index_id, slot };
    return count;
}
