/*
 * caller.c - see the header.
 */
#include "service/caller.h"

enum status caller_identify(struct caller *caller, struct rpc_call *call, struct error *err)
{
    (void)call;
    (void)err;
    caller->access = access_unlimited(STR_LITERAL("default"));
    return STATUS_OK;
}

enum status caller_authorize(struct caller *caller, struct operation *operation, struct error *err)
{
    return access_check(&caller->access, NULL, operation, err);
}
