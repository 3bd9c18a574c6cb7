/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_cors.c - see the header. The rule that matches a request is copied, because the access snapshot may
 * be freed.
 */
#include "service/odata/odata_cors.h"

#include "odata/odata_error.h"
#include "service/odata/odata_call.h"
#include "service/service.h"

struct request_rule {
    bool has_rules; /* the account has CORS rules, even if none matches the request */
    bool is_found, is_for_all;
    struct cors_rule rule;
};

static struct request_rule rule_of(struct http_call *http, struct str method)
{
    struct authenticator *authenticator = &http_call_service(http)->authenticator;
    struct arena *arena = &http->exchange->arena;
    const struct odata_call *call = http->door_state;
    struct str origin = http_request_header(&http->exchange->request, "Origin");
    const struct service_properties *properties;
    const struct cors_rule *rule = NULL;
    struct request_rule found = { 0 };

    authenticator_enter(authenticator);
    properties = authenticator_service(authenticator, call->target.account);
    found.has_rules = properties && properties->cors.count > 0;
    if (found.has_rules)
        rule = cors_rules_find(&properties->cors, origin, method);
    if (rule) {
        found.is_found = true;
        found.is_for_all = cors_rule_is_for_all(rule);
        found.rule = (struct cors_rule){ .origins = STR_EMPTY,
            .methods = arena_copy(arena, rule->methods),
            .allowed_headers = arena_copy(arena, rule->allowed_headers),
            .exposed_headers = arena_copy(arena, rule->exposed_headers),
            .max_age_s = rule->max_age_s };
    }
    authenticator_leave(authenticator);
    return found;
}

static void add(struct http_call *http, const char *name, struct str value)
{
    http_reply_add_header(&http->exchange->reply, &http->exchange->arena, name, value);
}

static void add_origin(struct http_call *http, const struct request_rule *found)
{
    if (found->is_for_all) {
        add(http, "Access-Control-Allow-Origin", STR_LITERAL("*"));
        return;
    }
    add(http, "Access-Control-Allow-Origin", http_request_header(&http->exchange->request, "Origin"));
    add(http, "Access-Control-Allow-Credentials", STR_LITERAL("true"));
}

void odata_cors_add_headers(struct http_call *http)
{
    const struct http_request *request = &http->exchange->request;
    struct request_rule found = rule_of(http, request->method);
    bool may_be_cached = http_request_is(request, "GET") || http_request_is(request, "HEAD");

    if (found.is_found) {
        add_origin(http, &found);
        if (found.rule.exposed_headers.len > 0)
            add(http, "Access-Control-Expose-Headers", found.rule.exposed_headers);
    }
    if (may_be_cached && found.has_rules && !found.is_for_all)
        add(http, "Vary", STR_LITERAL("Origin"));
}

static enum status check_preflight(struct http_call *http, struct request_rule *out, struct error *err)
{
    const struct http_request *request = &http->exchange->request;
    struct str method = http_request_header(request, "Access-Control-Request-Method");
    struct str headers = http_request_header(request, "Access-Control-Request-Headers");

    if (method.len == 0 || http_request_header(request, "Origin").len == 0)
        return odata_error_refuse(err, ODATA_REFUSAL_MISSING_CORS_HEADER,
            "a preflight needs the headers Origin and Access-Control-Request-Method");
    *out = rule_of(http, method);
    if (out->is_found && cors_rule_allows(&out->rule, headers))
        return STATUS_OK;
    return odata_error_refuse(
        err, ODATA_REFUSAL_CORS_PREFLIGHT_FAILURE, "the account has no CORS rule that allows this request");
}

void odata_cors_answer_preflight(struct http_call *http)
{
    struct http_exchange *exchange = http->exchange;
    struct str method = http_request_header(&exchange->request, "Access-Control-Request-Method");
    struct str headers = http_request_header(&exchange->request, "Access-Control-Request-Headers");
    struct request_rule found;
    struct error err = { 0 };

    if (check_preflight(http, &found, &err) != STATUS_OK) {
        odata_call_write_error(http, &err, &exchange->reply.body);
        return;
    }
    odata_call_begin_reply(http, 200);
    add_origin(http, &found);
    if (found.is_for_all)
        add(http, "Access-Control-Allow-Credentials", STR_LITERAL("true"));
    add(http, "Access-Control-Allow-Methods", method);
    if (headers.len > 0)
        add(http, "Access-Control-Allow-Headers", headers);
    add(http, "Access-Control-Max-Age", arena_format(&exchange->arena, "%u", found.rule.max_age_s));
}
