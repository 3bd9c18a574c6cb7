/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_map.h - sorted maps of which a copy shares everything with the original until one of them changes: a change
 * copies the nodes on the way to what it changes, about two times the binary logarithm of the number of items.
 *
 * A map belongs to one thread while it is changed. Maps that share nodes may be read, copied, changed and cleared by
 * several threads at once, each map by one of them.
 *
 * A zeroed struct is an empty map. An item holds its key; a map never copies an item.
 */
#ifndef BASE_SHARED_MAP_H
#define BASE_SHARED_MAP_H

#include <stdbool.h>
#include <stddef.h>

struct shared_map_node;

struct shared_map {
    struct shared_map_node *root;
};

/* The functions that a map needs of its items. */
struct shared_map_type {
    /* Where the key stands: before (negative), at (0) or behind (positive) the item. */
    int (*order)(const void *key, const void *item);

    /*
     * Called when one more node holds the item, and when one node less does. Both NULL: the items outlive every map
     * with them.
     */
    void (*retain)(void *item);
    void (*release)(void *item);
};

/* A map with the same items; cleared by the caller. */
struct shared_map shared_map_copy(const struct shared_map *map);
void shared_map_clear(struct shared_map *map, const struct shared_map_type *type);

/* Put an item, whose reference the map takes, at the key; an item that is there already is released. */
void shared_map_put(struct shared_map *map, const struct shared_map_type *type, const void *key, void *item);

/* Remove the item at the key, if there is one. */
void shared_map_remove(struct shared_map *map, const struct shared_map_type *type, const void *key);

/* The item at the key; NULL: none. */
void *shared_map_find(const struct shared_map *map, const struct shared_map_type *type, const void *key);

/* The first item behind the key; NULL: none. */
void *shared_map_after(const struct shared_map *map, const struct shared_map_type *type, const void *key);

#endif
