/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_page.h - reading a list index: its entries, one per member, become pages.
 *
 *   row key of an entry     value  separator  member         member: the source's two keys, encoded
 *   row key of a page       value                            the first one
 *                           value  separator  member         the members behind this one
 *
 * The value is the declared row key; the separator is the end mark of its last part, and nothing
 * when that is a literal or nothing is declared. So the address of the next page is the row key of
 * the last entry of this one, and any row key of an entry, of the past or the future, is a legal
 * address.
 *
 * A page is an entity with these properties:
 *   Members     a JSON array of [PartitionKey, RowKey] in order, at most LIMIT_MEMBERS_UNITS UTF-16 units
 *   NextRowKey  the address of the next page, if there are more members
 *
 * Pure: the store reads the entries.
 */
#ifndef DOMAIN_INDEXES_LIST_PAGE_H
#define DOMAIN_INDEXES_LIST_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "domain/catalogue/catalogue.h"
#include "domain/operations/operation.h"

/* The parts of a row key of a list index. They borrow the row key, or lie in the arena. */
struct list_address {
    struct str value;  /* the row key of the first page */
    struct str prefix; /* value and separator: the prefix of the row keys of its entries */
    bool has_member;
    struct str member; /* the rest of the row key; the page holds the members behind it */
};

/* Split a row key. false: no entry and no page can have it. */
MUST_USE bool list_page_split_row_key(
    const struct index *index, struct str row_key, struct arena *arena, struct list_address *out);

/*
 * LIST_PAGE_UNITS: the UTF-16 units of a page without members, which are its brackets.
 * list_page_room: whether one more member fits on a page of *units; if so, its units are added to
 * *units. A first member always fits.
 */
enum { LIST_PAGE_UNITS = 2 };
bool list_page_room(size_t *units, const struct entity_key *member);

/*
 * A page under construction: start it, add entries in the order of their row keys until it is full,
 * finish it.
 */
struct list_page {
    struct arena *arena;
    struct entity_key key;
    struct buf members;
    size_t units;
    uint64_t digest;
    int64_t timestamp;
    struct str last_row_key; /* of the last entry added */
    bool has_members;
    bool more;
};

/* Start a page. key: its address. It and the added row keys are borrowed until list_page_finish. */
void list_page_start(struct list_page *page, const struct entity_key *key, struct arena *arena);

/*
 * Add an entry: its row key, its source, its version and time. false: the page is full and the
 * entry was not added; call list_page_finish next. The first entry always fits.
 */
MUST_USE bool list_page_add(struct list_page *page, struct str row_key, const struct entity_key *member,
    int64_t version, int64_t timestamp);

/*
 * Make the page an entity of the table of the index. Its ETag depends on the members, their
 * versions and the next page; its timestamp is the newest of theirs. false: the page has no
 * members, so it does not exist.
 */
MUST_USE bool list_page_finish(struct list_page *page, int64_t table_id, struct entity *out);

#endif
