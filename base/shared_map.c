/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_map.c - treaps with reference counts: each node has a random priority, and no child has a
 * higher priority than its parent, which keeps the tree flat whatever the order of changes.
 *
 * A function that changes a tree takes over the reference to the node it gets, and returns a
 * reference to the node that replaces it. If a node has only one reference, it is changed in place.
 */
#include "base/shared_map.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/hash.h"

struct shared_map_node {
    atomic_uint references;
    uint32_t priority;
    struct shared_map_node *left, *right;
    void *item;
};

static struct shared_map_node *retain_node(struct shared_map_node *at)
{
    if (at)
        atomic_fetch_add_explicit(&at->references, 1, memory_order_relaxed);
    return at;
}

static void release_item(const struct shared_map_type *of, void *item)
{
    if (of->release)
        of->release(item);
}

static void release_node(const struct shared_map_type *of, struct shared_map_node *at)
{
    if (!at || atomic_fetch_sub_explicit(&at->references, 1, memory_order_acq_rel) > 1)
        return;
    release_node(of, at->left);
    release_node(of, at->right);
    release_item(of, at->item);
    free(at);
}

static struct shared_map_node *new_node(void *item, uint32_t priority)
{
    struct shared_map_node *fresh = xmalloc(sizeof(*fresh));

    atomic_init(&fresh->references, 1);
    fresh->priority = priority;
    fresh->left = fresh->right = NULL;
    fresh->item = item;
    return fresh;
}

/* The node itself if it has only one reference, otherwise a copy. */
static struct shared_map_node *own_node(const struct shared_map_type *of, struct shared_map_node *at)
{
    struct shared_map_node *copy;

    if (atomic_load_explicit(&at->references, memory_order_acquire) == 1)
        return at;
    copy = new_node(at->item, at->priority);
    copy->left = retain_node(at->left);
    copy->right = retain_node(at->right);
    if (of->retain)
        of->retain(copy->item);
    release_node(of, at);
    return copy;
}

/*
 * Rotate: put the left child, whose priority is higher, in the place of its parent. The caller has
 * the only reference to both.
 */
static struct shared_map_node *lift_left(struct shared_map_node *parent)
{
    struct shared_map_node *child = parent->left;

    parent->left = child->right;
    child->right = parent;
    return child;
}

static struct shared_map_node *lift_right(struct shared_map_node *parent)
{
    struct shared_map_node *child = parent->right;

    parent->right = child->left;
    child->left = parent;
    return child;
}

static struct shared_map_node *put_item(const struct shared_map_type *of, struct shared_map_node *at,
    const void *key, struct shared_map_node *fresh)
{
    int order;

    if (!at)
        return fresh;
    at = own_node(of, at);
    order = of->order(key, at->item);
    if (order < 0) {
        at->left = put_item(of, at->left, key, fresh);
        return at->left->priority > at->priority ? lift_left(at) : at;
    }
    if (order > 0) {
        at->right = put_item(of, at->right, key, fresh);
        return at->right->priority > at->priority ? lift_right(at) : at;
    }
    release_item(of, at->item);
    at->item = fresh->item;
    free(fresh);
    return at;
}

/* Join two trees: all items of `left` come before those of `right`. */
static struct shared_map_node *join(
    const struct shared_map_type *of, struct shared_map_node *left, struct shared_map_node *right)
{
    if (!left || !right)
        return left ? left : right;
    if (left->priority > right->priority) {
        left = own_node(of, left);
        left->right = join(of, left->right, right);
        return left;
    }
    right = own_node(of, right);
    right->left = join(of, left, right->left);
    return right;
}

/* Remove the item at the key, which exists. */
static struct shared_map_node *take_out(
    const struct shared_map_type *of, struct shared_map_node *at, const void *key)
{
    int order;
    struct shared_map_node *rest;

    at = own_node(of, at);
    order = of->order(key, at->item);
    if (order < 0) {
        at->left = take_out(of, at->left, key);
        return at;
    }
    if (order > 0) {
        at->right = take_out(of, at->right, key);
        return at;
    }
    rest = join(of, at->left, at->right);
    at->left = at->right = NULL;
    release_node(of, at);
    return rest;
}

struct shared_map shared_map_copy(const struct shared_map *map)
{
    return (struct shared_map){ retain_node(map->root) };
}

void shared_map_clear(struct shared_map *map, const struct shared_map_type *of)
{
    release_node(of, map->root);
    map->root = NULL;
}

/*
 * Computed from the item's address by spreading its low bits, so an item has the same priority in
 * every map.
 */
static uint32_t priority_of(const void *item)
{
    return (uint32_t)(hash_number(HASH_EMPTY, (uint64_t)(uintptr_t)item) >> 16);
}

void shared_map_put(struct shared_map *map, const struct shared_map_type *of, const void *key, void *item)
{
    map->root = put_item(of, map->root, key, new_node(item, priority_of(item)));
}

void shared_map_remove(struct shared_map *map, const struct shared_map_type *of, const void *key)
{
    if (shared_map_find(map, of, key))
        map->root = take_out(of, map->root, key);
}

void *shared_map_find(const struct shared_map *map, const struct shared_map_type *of, const void *key)
{
    const struct shared_map_node *at = map->root;

    while (at) {
        int order = of->order(key, at->item);

        if (order == 0)
            return at->item;
        at = order < 0 ? at->left : at->right;
    }
    return NULL;
}

void *shared_map_after(const struct shared_map *map, const struct shared_map_type *of, const void *key)
{
    const struct shared_map_node *at = map->root;
    void *first = NULL;

    while (at) {
        bool is_behind = of->order(key, at->item) < 0;

        if (is_behind)
            first = at->item;
        at = is_behind ? at->left : at->right;
    }
    return first;
}
