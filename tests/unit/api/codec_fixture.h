/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_fixture.h - what the tests of the codecs share: an arena, an error, requests from their parts.
 */
#ifndef TESTS_UNIT_API_CODEC_FIXTURE_H
#define TESTS_UNIT_API_CODEC_FIXTURE_H

#include <check.h>

#include "api/codec_entity.h"

static struct arena arena;
static struct error err;

static inline void setup(void)
{
    arena_init(&arena);
    err = (struct error){ 0 };
}

static inline void teardown(void)
{
    arena_cleanup(&arena);
}

static inline ProtobufCBinaryData text(const char *bytes)
{
    return codec_bytes(str_of(bytes));
}

static inline Tavola__V1__Entity *an_entity(const char *partition, const char *row)
{
    Tavola__V1__Entity *out = ARENA_NEW(&arena, Tavola__V1__Entity);

    tavola__v1__entity__init(out);
    out->partition_key = text(partition);
    out->row_key = text(row);
    return out;
}

static inline Tavola__V1__EntityKey *a_key(const char *partition, const char *row)
{
    Tavola__V1__EntityKey *out = ARENA_NEW(&arena, Tavola__V1__EntityKey);

    tavola__v1__entity_key__init(out);
    out->partition_key = text(partition);
    out->row_key = text(row);
    return out;
}

static inline Tavola__V1__Precondition *if_match(const char *etag)
{
    Tavola__V1__Precondition *out = ARENA_NEW(&arena, Tavola__V1__Precondition);

    tavola__v1__precondition__init(out);
    out->if_match = text(etag);
    return out;
}

static inline void assert_refused(enum status status, const char *reason)
{
    ck_assert_int_ne(status, STATUS_OK);
    ck_assert_int_eq(err.status, status);
    ck_assert_str_eq(err.reason, reason);
}

static inline const char *meta(const char *key)
{
    for (size_t i = 0; i < err.meta_count; i++) {
        if (strcmp(err.meta[i].key, key) == 0)
            return err.meta[i].value;
    }
    return "";
}

#endif
