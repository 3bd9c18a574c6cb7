/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_text.c - any bytes as each of the short texts that callers, tokens and operators write: addresses, ranges of
 * addresses, URLs of Redis, times, ETags, permissions, names of tables, base64. A kind with only one text per value
 * returns the text that was read.
 */
#include "base/base64url.h"
#include "base/config.h"
#include "domain/access/access.h"
#include "domain/access/network_address.h"
#include "domain/catalogue/table_name.h"
#include "domain/entities/etag.h"
#include "domain/keys/entity_key.h"
#include "domain/properties/datetime.h"
#include "domain/properties/property_name.h"
#include "domain/ticks.h"
#include "queue/redis_url.h"
#include "tests/fuzz/fuzz.h"

fuzz_fn fuzz_text;

static void check_redis_url(const char *text, struct arena *arena)
{
    struct redis_url url;
    struct error err;

    if (redis_url_parse(text, arena, &url, &err) != STATUS_OK)
        return;
    fuzz_require(url.path ? url.endpoint_count == 0
                          : url.endpoint_count > 0 && url.endpoint_count <= REDIS_MAX_ENDPOINTS);
    for (size_t i = 0; i < url.endpoint_count; i++)
        fuzz_require(
            url.endpoints[i].host[0] != '\0' && url.endpoints[i].port > 0 && url.endpoints[i].port <= 65535);
    fuzz_require(!url.user || url.password);
    fuzz_require(url.database >= 0);
}

static void check_addresses(struct str input, struct arena *arena)
{
    struct network_address address, again;
    struct network_range range;

    if (network_address_parse(input, &address)) {
        fuzz_require(network_address_parse(network_address_format(&address, arena), &again));
        fuzz_require(memcmp(&address, &again, sizeof(address)) == 0);
    }
    if (network_range_parse(input, &range))
        fuzz_require(
            network_range_contains(&range, &range.low) && network_range_contains(&range, &range.high));
    if (network_address_of_peer(input, &address))
        fuzz_require(network_address_parse(network_address_format(&address, arena), &again));
}

static void check_time(struct str input)
{
    int64_t seconds, ticks;
    int32_t nanos;

    if (!datetime_parse(input, &seconds, &nanos))
        return;
    fuzz_require(nanos >= 0 && nanos < 1000000000);
    if (ticks_from_timestamp(seconds, nanos, &ticks))
        fuzz_require(ticks >= 0 && ticks <= TICKS_MAX);
}

static void check_etag(struct str input)
{
    struct condition condition, again;
    struct error err;
    char text[ETAG_BYTES];

    if (condition_parse(input, &condition, &err) != STATUS_OK)
        return;
    fuzz_require(condition.kind == CONDITION_EXISTS || condition.kind == CONDITION_MATCHES);
    if (condition.kind == CONDITION_EXISTS || condition.etag.table_id == 0)
        return;
    fuzz_require(
        condition_parse(str_of_bytes(text, etag_format(condition.etag, text)), &again, &err) == STATUS_OK);
    fuzz_require(etag_equal(condition.etag, again.etag));
}

static void check_names(struct str input, struct arena *arena)
{
    struct entity_key key;
    struct str folded;
    unsigned permissions;
    struct error err;

    if (access_parse_permissions(input, &permissions))
        fuzz_require(str_equal(access_format_permissions(permissions, arena), input));
    if (table_name_check(input, &err) == STATUS_OK) {
        folded = table_name_fold(input, arena);
        fuzz_require(table_name_is(input, folded) && table_name_check(folded, &err) == STATUS_OK);
    }
    if (entity_key_parse(input, STR_EMPTY, &key, &err) == STATUS_OK)
        fuzz_require(entity_key_parse(STR_EMPTY, input, &key, &err) == STATUS_OK);
    if (property_name_check(input, &err) == STATUS_OK)
        fuzz_require(input.len > 0);
}

static void check_base64(struct str input, struct arena *arena)
{
    struct str bytes;

    if (base64url_decode(input, arena, &bytes))
        fuzz_require(str_equal(base64url_encode(bytes, arena), input));
    fuzz_require(base64url_decode(base64url_encode(input, arena), arena, &bytes) && str_equal(bytes, input));
}

void fuzz_text(struct str input)
{
    struct arena arena;
    const char *text;

    arena_init(&arena);
    text = arena_copy(&arena, input).data;
    check_redis_url(text, &arena);
    if (config_is_address(text))
        fuzz_require(text[0] != '\0');
    check_addresses(input, &arena);
    check_time(input);
    check_etag(input);
    check_names(input, &arena);
    check_base64(input, &arena);
    arena_cleanup(&arena);
}
