/* SPDX-License-Identifier: Apache-2.0 */
/*
 * property_parts.h - how the properties of a wide entity are spread over rows.
 *
 * The canonical list is sorted by name, so it is cut between properties: a part has the names from its
 * first name on, up to the first name of the next part. The first part begins with the empty name, so
 * every name belongs to exactly one part. All parts in their order are the list.
 *
 * A short list is in the entity's own row and has no parts. A write touches the parts that its names
 * belong to: a part that becomes too long is cut, a short one is joined with its neighbour, and the
 * others stay as they are, also if they were not read. A part begins with the name of its first property, or if that
 * is too long, with the beginning by which it differs from the name before it.
 *
 * Pure: no I/O.
 */
#ifndef DOMAIN_PROPERTIES_PROPERTY_PARTS_H
#define DOMAIN_PROPERTIES_PROPERTY_PARTS_H

#include "domain/properties/property.h"

enum {
    /* bytes of a list: a longer one is spread, and a list that is spread stays so while it is longer than this */
    PARTS_MAX_WHOLE_BYTES = 32 * 1024,
    PARTS_MIN_SPREAD_BYTES = 16 * 1024,
    /* of a part; a longer one is cut into pieces of about PART_BYTES, and a shorter one is joined */
    PART_MAX_BYTES = 32 * 1024,
    PART_BYTES = 16 * 1024,
    PART_MIN_BYTES = 4 * 1024,
    /* of a name with which a part may begin: it is in a key of the database, beside both keys of the entity */
    PART_MAX_NAME_BYTES = 512,
    /* of properties between which no part can begin; so no part has more than this and PART_MAX_BYTES together */
    PART_MAX_UNDIVIDED_BYTES = 1024 * 1024,
    /* more parts with fewer bytes on average are read by the next write, which joins them */
    PARTS_MAX_SHORT = 64,
    PARTS_MIN_AVERAGE_BYTES = PART_MIN_BYTES / 2,
};

/* A part as it is stored. */
struct property_part {
    struct str first_name;
    size_t bytes, count;             /* of its properties */
    struct str contents;             /* that they hold: as in struct property_rest */
    bool is_read;                    /* `properties` are set, and may be written anew */
    struct property_list properties; /* empty unless is_read */
};

struct property_parts {
    struct property_part *items; /* in the order of their names */
    size_t count;                /* 0: the properties are in the entity's row, or there is no entity */
};

/* Mark all parts as to be read, or those to which the names of this list belong, or that to which this name belongs. */
void property_parts_want_all(struct property_parts *parts);
void property_parts_want(struct property_parts *parts, struct property_list names);
void property_parts_want_name(struct property_parts *parts, struct str name);

/* Whether writes that shrink values, each in one part, have left many short parts. */
bool property_parts_are_scattered(const struct property_parts *parts);

/* Whether a part may begin with this name, and the one before it belong to the part before. */
bool property_parts_can_divide(struct str before, struct str name);

/* The properties of the parts that were read, one list. */
struct property_list property_parts_join(const struct property_parts *parts, struct arena *arena);

/* What the parts have that were not read. */
struct property_rest property_parts_rest(const struct property_parts *parts, struct arena *arena);

/* A part to write, or to remove. */
struct part_change {
    struct str first_name;
    bool is_removed;
    size_t count;
    struct property_list properties;
};

struct parts_plan {
    struct property_list whole;  /* what the entity's own row has; empty if the list is spread */
    int64_t spread;              /* bytes of all parts; 0: there are none */
    struct part_change *changes; /* each first name once, in ascending order */
    size_t change_count;
};

/*
 * What to write so that the entity has the properties `now` beside those of the parts that were not
 * read: rest, as property_parts_rest has told it. Without a rest all stored parts are replaced.
 */
void property_parts_plan(const struct property_parts *stored, struct property_list now,
    struct property_rest rest, struct arena *arena, struct parts_plan *out);

#endif
