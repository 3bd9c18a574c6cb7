/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - see the header.
 */
#include "client/calls.h"

#include <stdio.h>

#include "client/command.h"
#include "client/connect.h"
#include "client/rows.h"

/* Few: a person waits for the answer, and can repeat the command. */
enum { MAX_ATTEMPTS = 3 };

/* The client of `tavola shell`, which all of its commands use. */
static struct {
    bool is_kept;
    struct tavola *client;
    const struct client_config *config; /* of the last client */
} shared;

struct tavola *calls_open(const struct client_config *config)
{
    struct error err = { 0 };
    struct tavola *client;

    shared.config = config;
    if (shared.client)
        return shared.client;
    if (client_connect(config, MAX_ATTEMPTS, &client, &err) != STATUS_OK) {
        fprintf(stderr, "tavola: %s\n", err.message);
        return NULL;
    }
    if (shared.is_kept)
        shared.client = client;
    return client;
}

int calls_close(struct tavola *client, int exit_code)
{
    if (client && client != shared.client)
        tavola_close(client);
    return exit_code;
}

void calls_keep(void)
{
    shared.is_kept = true;
}

void calls_forget(void)
{
    if (shared.client)
        tavola_close(shared.client);
    shared.client = NULL;
    shared.is_kept = false;
}

static void explain_refusal(void)
{
    char when[TIME_TEXT_BYTES];

    if (shared.config && connect_token_expired(shared.config, when))
        fprintf(stderr, "tavola: the token has expired at %s; tavola token create makes one.\n", when);
    else
        fprintf(stderr, "tavola: tavola sas explain shows what a token says and when it ends; tavola token "
                        "create makes one.\n");
}

int calls_failed(const struct tavola_error *error)
{
    fprintf(stderr, "tavola: %s%s%s: %s\n", tavola_code_name(error->code), error->reason[0] ? " / " : "",
        error->reason, error->message);
    if (error->code == TAVOLA_UNAVAILABLE && error->reason[0] == '\0') /* the channel's own */
        fprintf(stderr, "tavola: does a server listen there? --target or TAVOLA_TARGET sets the address.\n");
    if (error->code == TAVOLA_UNAUTHENTICATED)
        explain_refusal();
    return COMMAND_FAILED;
}

static struct tavola_reply *ask_question(struct tavola *client, const char *method, const char *request)
{
    const struct tavola_question question = { .method = method, .request = request };
    struct tavola_reply *reply;
    struct tavola_error error;

    if (tavola_ask(client, &question, &reply, &error) == TAVOLA_OK)
        return reply;
    (void)calls_failed(&error);
    return NULL;
}

struct tavola_reply *calls_ask(struct tavola *client, const char *method, struct request *request)
{
    struct tavola_reply *reply = NULL;

    if (client)
        reply = ask_question(client, method, request ? request_json(request) : "{}");
    request_end(request);
    return reply;
}

/* Ask for one page. false: the call failed. *more: the request asks for the page after it. */
static bool read_page(
    struct tavola *client, const struct calls_list *list, struct request *request, bool *more)
{
    struct tavola_reply *reply = ask_question(client, list->method, request_json(request));
    struct tavola_record page, element;
    size_t position = 0;
    char *token;

    if (!reply)
        return false;
    page = tavola_reply_record(reply);
    while (tavola_record_next(&page, list->field, &position, &element))
        list->element(list->context, &element);
    token = tavola_record_text(&page, "nextPageToken");
    *more = token[0] != '\0';
    request_page_token(request, token);
    tavola_free(token);
    tavola_reply_free(reply);
    return true;
}

bool calls_each(struct tavola *client, const struct calls_list *list, struct request *request)
{
    struct request empty = { .buf = { 0 } };
    bool more = true, done = client != NULL;

    if (!request) {
        request_begin(&empty);
        request = &empty;
    }
    while (done && more)
        done = read_page(client, list, request, &more);
    request_end(request);
    return done;
}

int calls_print_list(const struct client_config *config, const char *method, const char *field,
    struct rows *rows, struct request *request)
{
    const struct calls_list list = { method, field, rows_element, rows };
    struct tavola *client = calls_open(config);

    if (!calls_each(client, &list, request))
        return calls_close(client, COMMAND_FAILED);
    rows_close(rows);
    return calls_close(client, COMMAND_OK);
}

int calls_show(
    const struct client_config *config, const char *method, struct request *request, calls_show_fn *show)
{
    struct tavola *client = calls_open(config);
    struct tavola_reply *reply = calls_ask(client, method, request);
    struct tavola_record record;

    if (reply) {
        record = tavola_reply_record(reply);
        show(&record);
    }
    tavola_reply_free(reply);
    return calls_close(client, reply ? COMMAND_OK : COMMAND_FAILED);
}
