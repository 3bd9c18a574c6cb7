/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_map.h - sorted maps that share their nodes with their copies. A change copies only the
 * nodes on the path to the changed item, about two times the binary logarithm of the number of
 * items.
 *
 * A map belongs to one thread while it is changed. Several threads may read, copy, change and clear
 * maps that share nodes at the same time, each thread its own map.
 *
 * A zeroed struct is an empty map. An item contains its key; a map never copies an item.
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
    /* Compare: the key comes before (negative), at (0) or behind (positive) the item. */
    int (*order)(const void *key, const void *item);

    /*
     * Called when one more node refers to the item, and when one node less does. If both are NULL,
     * the items must outlive every map.
     */
    void (*retain)(void *item);
    void (*release)(void *item);
};

/* Make a map with the same items, which the caller clears. */
struct shared_map shared_map_copy(const struct shared_map *map);
void shared_map_clear(struct shared_map *map, const struct shared_map_type *type);

/*
 * Put an item at the key. The map takes the caller's reference to the item, and releases an item
 * that was there.
 */
void shared_map_put(struct shared_map *map, const struct shared_map_type *type, const void *key, void *item);

/* Remove the item at the key, if there is one. */
void shared_map_remove(struct shared_map *map, const struct shared_map_type *type, const void *key);

/* The item at the key; NULL if there is none. */
void *shared_map_find(const struct shared_map *map, const struct shared_map_type *type, const void *key);

/* The first item behind the key; NULL if there is none. */
void *shared_map_after(const struct shared_map *map, const struct shared_map_type *type, const void *key);

#endif
