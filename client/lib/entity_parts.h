/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entity_parts.h - struct tavola_entity, for the files that send and receive entities.
 */
#ifndef CLIENT_LIB_ENTITY_PARTS_H
#define CLIENT_LIB_ENTITY_PARTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "client/lib/tavola.h"
#include "domain/entities/entity.h"
#include "tavola/v1/entity.pb-c.h"

struct entity_property {
    const char *name;
    struct tavola_value value;
};

/*
 * The properties are `list`, in the service's form, until one is asked for; once one is changed, they are the
 * array.
 */
struct tavola_entity {
    struct arena arena;
    struct str partition, row; /* each with a NUL behind it */
    struct str etag;
    int64_t timestamp, expires; /* ticks; 0: none */
    struct property_list list;
    bool has_list;
    bool has_properties;
    struct entity_property *properties;
    size_t count, capacity;
};

/* Make an empty entity. entity_reset empties it again. */
struct tavola_entity *entity_make(void);
void entity_reset(struct tavola_entity *entity);

/* Fill an empty entity with one from the service. TAVOLA_INTERNAL: it cannot be read. */
enum tavola_code entity_receive(
    struct tavola_entity *entity, const Tavola__V1__Entity *message, struct tavola_error *error);

/* Add properties from the service that are behind those of the entity. TAVOLA_INTERNAL: they cannot be read. */
enum tavola_code entity_receive_more(
    struct tavola_entity *entity, const Tavola__V1__Entity *message, struct tavola_error *error);

/* Fill an empty entity with a key from the service. */
void entity_receive_key(struct tavola_entity *entity, const Tavola__V1__EntityKey *message);

/* Make the message of a write, in the arena. Errors are those of the service's own rules. */
enum tavola_code entity_message(const struct tavola_entity *entity, struct arena *arena,
    Tavola__V1__Entity **out, struct tavola_error *error);

/* Make the field of a request from a value, in the arena. */
Tavola__V1__Value *entity_value_message(const struct tavola_value *value, struct arena *arena);

/* Set ETag and timestamp after the service has written the entity. */
void entity_note_written(struct tavola_entity *entity, const Tavola__V1__WriteResult *result);

/* Make the message of a key, which borrows the key's texts. */
Tavola__V1__EntityKey *entity_key_of(struct tavola_key key, struct arena *arena);

struct tavola_time entity_time_of(int64_t ticks);

#endif
