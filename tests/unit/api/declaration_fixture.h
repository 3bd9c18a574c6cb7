/* SPDX-License-Identifier: Apache-2.0 */
/*
 * declaration_fixture.h - what the tests of declarations of indexes share: parts of keys, and declarations that are
 * spoilt and must be refused.
 */
#ifndef TESTS_UNIT_API_DECLARATION_FIXTURE_H
#define TESTS_UNIT_API_DECLARATION_FIXTURE_H

#include "api/codec_index.h"

#include "codec_fixture.h"

static inline Tavola__V1__KeyPart *a_part(const char *property)
{
    Tavola__V1__KeyPart *out = ARENA_NEW(&arena, Tavola__V1__KeyPart);

    tavola__v1__key_part__init(out);
    out->source_case = TAVOLA__V1__KEY_PART__SOURCE_PROPERTY;
    out->property = text(property);
    return out;
}

struct refusal_case {
    const char *name;
    void (*spoil)(Tavola__V1__Index *index);
    const char *reason;
    const char *says;
    const char *field;
};

static inline void assert_spoilt_is_refused(const struct refusal_case *c, Tavola__V1__Index *message)
{
    struct index index;

    c->spoil(message);
    enum status status = codec_index_decode(message, &arena, &index, &err);

    ck_assert_msg(status != STATUS_OK, "%s", c->name);
    assert_refused(status, c->reason);
    ck_assert_msg(strstr(err.message, c->says) != NULL, "%s: %s", c->name, err.message);
    ck_assert_msg(strcmp(err.field, c->field) == 0, "%s: %s", c->name, err.field);
}

#endif
