/* SPDX-License-Identifier: Apache-2.0 */
/*
 * macros.h - the few macros every file may use.
 */
#ifndef BASE_MACROS_H
#define BASE_MACROS_H

#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF_LIKE(text_index, first) __attribute__((format(printf, text_index, first)))
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* The object that holds this member. */
#define CONTAINER_OF(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
