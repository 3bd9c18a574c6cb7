/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_account.h - the connection string of a storage account (Azure Tables, its emulator, or another Tavola), and
 * the requests that it makes possible. Pure.
 */
#ifndef CLIENT_STORAGE_ACCOUNT_H
#define CLIENT_STORAGE_ACCOUNT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

struct storage_account {
    struct str name, key; /* key: its bytes; empty: there is a signature */
    struct str signature; /* a shared access signature, without "?" */
    struct str endpoint;  /* "https://acme.table.core.windows.net", without a slash at its end */
    struct str path;      /* of the endpoint: "/devstoreaccount1"; empty: none */
};

/*
 * Read "AccountName=...;AccountKey=...;EndpointSuffix=..." and so on, or "UseDevelopmentStorage=true". All is in the
 * arena. STATUS_INVALID: a part is missing or malformed; the message never has a value of the string.
 */
MUST_USE enum status storage_account_parse(
    struct str text, struct arena *arena, struct storage_account *out, struct error *err);

/*
 * The URL of a page of a table. position: query text behind which page it begins; empty: the first one. The last
 * one of storage_account_position.
 */
const char *storage_account_url(
    const struct storage_account *account, struct str table, struct str position, struct arena *arena);

/* The header Authorization for a page, signed with the key; NULL: the account has none. date: as x-ms-date says. */
const char *storage_account_authorization(
    const struct storage_account *account, struct str table, struct str date, struct arena *arena);

/* Query text for the page behind the keys of a reply's continuation headers; empty: there is none. */
struct str storage_account_position(struct str next_partition, struct str next_row, struct arena *arena);

/*
 * Take the next entity, an object of JSON, of a page. *at is 0 at first. false: there is no further one; *is_page then
 * says whether the text was one.
 */
bool storage_account_next(struct str page, size_t *at, struct str *entity, bool *is_page);

#endif
