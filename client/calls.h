/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - calls of a command to the server of TAVOLA_TARGET, through libtavola.
 */
#ifndef CLIENT_CALLS_H
#define CLIENT_CALLS_H

#include "client/client_config.h"
#include "client/lib/tavola.h"
#include "client/request.h"

struct rows;

/*
 * The client of a command. NULL: the settings cannot be used, and standard error has the cause. calls_close
 * ends it.
 */
struct tavola *calls_open(const struct client_config *config);

/* Returns exit_code, so that a command can end with the call. Accepts NULL. */
int calls_close(struct tavola *client, int exit_code);

/*
 * From now on calls_open gives out one client, which calls_close leaves open, until calls_forget. For `tavola
 * shell`.
 */
void calls_keep(void);
void calls_forget(void);

/*
 * Print status and reason of a failed call to standard error: "UNAVAILABLE / SERVER_DRAINING: ...". Returns
 * COMMAND_FAILED.
 */
int calls_failed(const struct tavola_error *error);

/*
 * A unary call. client NULL, as calls_open returns it: nothing is called. request: ended by this call; NULL: an empty
 * one. Returns the reply, which tavola_reply_free ends. NULL: there is none, and standard error has the cause.
 */
struct tavola_reply *calls_ask(struct tavola *client, const char *method, struct request *request);

/* Print what a command shows of a reply. */
typedef void calls_show_fn(const struct tavola_record *reply);

/*
 * The whole of a command that shows one reply: call the method and print its reply. request: as for calls_ask. Returns
 * COMMAND_OK or COMMAND_FAILED.
 */
int calls_show(
    const struct client_config *config, const char *method, struct request *request, calls_show_fn *show);

/* A method that lists by pages: give each element of the list `field` of each page. */
typedef void calls_element_fn(void *context, const struct tavola_record *element);

struct calls_list {
    const char *method, *field;
    calls_element_fn *element;
    void *context;
};

/* client, request: as for calls_ask. false: a call failed, and standard error has the cause. */
bool calls_each(struct tavola *client, const struct calls_list *list, struct request *request);

/*
 * The whole of a command that lists: call the method, print each element of the list `field` as a row, and write the
 * rows. request: as for calls_each. Returns COMMAND_OK or COMMAND_FAILED.
 */
int calls_print_list(const struct client_config *config, const char *method, const char *field,
    struct rows *rows, struct request *request);

#endif
