/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_policy.c - the policies of a table are stored one behind the other, each in a packed form
 * (base/wire_form.h).
 */
#include "domain/catalogue/access_policy.h"

#include "base/wire_form.h"
#include "domain/limits.h"
#include "domain/reason.h"

bool access_policy_id_is_valid(struct str id)
{
    if (id.len == 0 || id.len > LIMIT_POLICY_ID_BYTES)
        return false;
    for (size_t i = 0; i < id.len; i++)
        if (id.data[i] < ' ' || id.data[i] > '~')
            return false;
    return true;
}

static enum status check_one(
    const struct access_policies *policies, const struct access_policy *policy, struct error *err)
{
    if (!access_policy_id_is_valid(policy->id))
        return reason_set(err, REASON_INVALID_INPUT,
            "the id of a stored access policy has 1 to %d printable ASCII characters", LIMIT_POLICY_ID_BYTES);
    if (access_policies_find(policies, policy->id) != policy)
        return reason_set(
            err, REASON_INVALID_INPUT, "two stored access policies have the id %.*s", STR_ARG(policy->id));
    if (policy->start && policy->expiry && policy->expiry <= policy->start)
        return reason_set(
            err, REASON_INVALID_INPUT, "the policy %.*s expires before it starts", STR_ARG(policy->id));
    return STATUS_OK;
}

enum status access_policies_check(const struct access_policies *policies, struct error *err)
{
    if (policies->count > LIMIT_POLICIES_PER_TABLE) {
        reason_set(err, REASON_INVALID_INPUT, "a table has at most %d stored access policies, these are %zu",
            LIMIT_POLICIES_PER_TABLE, policies->count);
        error_add_meta_int(err, "limit", LIMIT_POLICIES_PER_TABLE);
        error_add_meta_int(err, "actual", (int64_t)policies->count);
        return STATUS_INVALID;
    }
    for (size_t i = 0; i < policies->count; i++)
        TRY(check_one(policies, &policies->items[i], err));
    return STATUS_OK;
}

const struct access_policy *access_policies_find(const struct access_policies *policies, struct str id)
{
    for (size_t i = 0; i < policies->count; i++)
        if (str_equal(policies->items[i].id, id))
            return &policies->items[i];
    return NULL;
}

static const struct wire_form_field policy_fields[] = {
    WIRE_FORM_FIELD(0, TEXT, struct access_policy, id),
    WIRE_FORM_FIELD(0, INT64, struct access_policy, start),
    WIRE_FORM_FIELD(0, INT64, struct access_policy, expiry),
    WIRE_FORM_FIELD(0, UINT32, struct access_policy, permissions),
};
static const struct wire_form policy_form = WIRE_FORM(policy_fields, struct access_policy);

struct str access_policies_encode(const struct access_policies *policies, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    for (size_t i = 0; i < policies->count; i++)
        wire_form_write_packed(&out, &policy_form, &policies->items[i]);
    return buf_str(&out);
}

bool access_policies_decode(struct str bytes, struct arena *arena, struct access_policies *out)
{
    struct access_policies policies = { 0 };

    policies.items = ARENA_ARRAY(arena, struct access_policy, LIMIT_POLICIES_PER_TABLE);
    while (bytes.len > 0) {
        if (policies.count == LIMIT_POLICIES_PER_TABLE ||
            !wire_form_read_packed(&bytes, &policy_form, &policies.items[policies.count]))
            return false;
        policies.count++;
    }
    *out = policies;
    return true;
}
