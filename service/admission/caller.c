/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caller.c - see the header.
 */
#include "service/admission/caller.h"

#include <strings.h>

#include "domain/reason.h"
#include "service/http/door.h"
#include "service/service.h"

#define SCHEME "Bearer "

/* The only account of a server without authentication. */
#define OPEN_ACCOUNT STR_LITERAL("default")

enum status caller_read_bearer(struct caller *caller, struct error *err)
{
    struct presented_credential *presented = &caller->presented;

    if (bearer_authority_read(
            &caller->authenticator->bearers, presented->text, caller->arena, &presented->credential))
        return STATUS_OK;
    return credential_refuse(err);
}

static enum status read_credential(struct caller *caller, struct rpc_call *call, struct error *err)
{
    struct str header = rpc_call_metadata(call, "authorization");
    size_t scheme = sizeof(SCHEME) - 1;

    if (header.len == 0)
        return reason_set(err, REASON_NO_AUTHENTICATION_INFORMATION,
            "the call carries no credentials; send the metadata authorization: Bearer <token>");
    if (header.len <= scheme || strncasecmp(header.data, SCHEME, scheme) != 0)
        return credential_refuse(err);
    caller->presented.text = str_from(header, scheme);
    if (credential_parse(caller->presented.text, rpc_call_arena(call), &caller->presented.credential))
        return STATUS_OK;
    return caller_read_bearer(caller, err);
}

/*
 * Check the caller's credential against the current snapshot. Call it between authenticator_enter and
 * authenticator_leave. The account's id is copied, since the snapshot may be freed. If a later check finds
 * another id (the account was deleted and another one has its name and keys, as after a restore), the
 * credential is refused.
 */
static enum status admit_caller(struct caller *caller, struct error *err)
{
    TRY(authenticator_admit(caller->authenticator, &caller->presented, &caller->access, err));
    if (caller->account.len == 0)
        caller->account = arena_copy(caller->arena, caller->access.account);
    if (!str_equal(caller->account, caller->access.account))
        return credential_refuse(err);
    caller->access.account = caller->account;
    return STATUS_OK;
}

static void resolve_name(const struct caller *caller, struct str *account)
{
    const struct account *named =
        account->len > 0 ? access_snapshot_find(caller->authenticator->snapshot, *account) : NULL;

    if (named)
        *account =
            str_equal(named->id, caller->account) ? caller->account : arena_copy(caller->arena, named->id);
}

/* Replace the names of accounts in an administrator's request by ids. A name that no account has stays. */
static void resolve_names(const struct caller *caller, struct operation *operation)
{
    struct transaction *transaction = &operation->in.transaction.transaction;

    if (operation->kind == OPERATION_HOT_PARTITIONS_LIST)
        resolve_name(caller, &operation->in.samples.account);
    for (size_t i = 0; operation->kind == OPERATION_TRANSACTION_SUBMIT && i < transaction->step_count; i++) {
        resolve_name(caller, &transaction->steps[i].account);
        resolve_name(caller, &transaction->steps[i].to_account);
    }
}

/*
 * Find the credential of the call. A door with credentials of its own finds them even on a server without
 * authentication: see authenticator_checks.
 */
static enum status find_credential(struct caller *caller, struct rpc_call *call, struct error *err)
{
    struct service *service = rpc_call_context(call);
    struct http_call *http = http_call_of(call);

    caller->presented.origin.is_encrypted = http ? http->exchange->request.is_tls : service->speaks_tls;
    if (http && http->door->read_credential)
        return http->door->read_credential(http, caller, err);
    return caller->authenticator->open ? STATUS_OK : read_credential(caller, call, err);
}

/* The server has no authentication, and the caller has presented no credential that would be checked. */
static bool is_unlimited(const struct caller *caller)
{
    return caller->authenticator->open && caller->presented.text.len == 0;
}

enum status caller_identify(struct caller *caller, struct rpc_call *call, struct error *err)
{
    struct service *service = rpc_call_context(call);
    struct authenticator *authenticator = &service->authenticator;
    enum status status;

    *caller = (struct caller){ .authenticator = authenticator, .arena = rpc_call_arena(call) };
    TRY(find_credential(caller, call, err));
    if (is_unlimited(caller)) {
        caller->access = access_unlimited(OPEN_ACCOUNT);
        rpc_call_authenticated(call);
        return STATUS_OK;
    }
    if (caller->presented.credential.has_source)
        caller->presented.origin.has_address =
            network_address_of_peer(rpc_call_peer(call), &caller->presented.origin.address);
    authenticator_enter(authenticator);
    status = admit_caller(caller, err);
    authenticator_leave(authenticator);
    caller->is_unknown = status == STATUS_UNAUTHENTICATED && caller->presented.generation == 0;
    if (status == STATUS_OK)
        rpc_call_authenticated(call);
    return status;
}

enum status caller_authorize(struct caller *caller, struct operation *operation, struct error *err)
{
    enum status status;

    if (is_unlimited(caller))
        return access_check(&caller->access, NULL, operation, err);
    authenticator_enter(caller->authenticator);
    status = admit_caller(caller, err);
    if (status == STATUS_OK) {
        resolve_names(caller, operation);
        status = access_check(&caller->access, caller->authenticator->snapshot->catalogue, operation, err);
    }
    if (status == STATUS_OK)
        status = account_usage_admit(
            &caller->presented.account->usage, &caller->authenticator->quotas, operation, err);
    authenticator_leave(caller->authenticator);
    return status;
}
