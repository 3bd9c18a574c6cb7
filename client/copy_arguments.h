/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_arguments.h - the copy rule that the options of `tavola index create` declare:
 *
 *   --copy-from TABLE --named-by PART,PART --copy COPY=PROPERTY,... [--keep] [--version-to COPY]
 *
 * A PART is a property of the dependent, or "=TEXT" for a key that is the same in all of them. In --copy, a name
 * without "=" is the name of both properties.
 *
 * Pure, except for messages on standard error.
 */
#ifndef CLIENT_COPY_ARGUMENTS_H
#define CLIENT_COPY_ARGUMENTS_H

#include "client/arguments.h"
#include "client/lib/tavola.h"

#define COPY_ARGUMENTS                                                                                       \
    "[--copy-from TABLE] [--named-by PART,PART] [--copy NAME=PROPERTY,...] [--keep] [--version-to NAME]"

enum { COPY_ARGUMENTS_MAX = 64 };

struct copy_arguments {
    struct tavola_copies copies;
    struct tavola_copied properties[COPY_ARGUMENTS_MAX + 1];
};

/*
 * Read the options. The values of the options are divided in place, and out borrows them. *declared: whether
 * there is a rule; it is in out->copies. false: the options contradict each other; standard error says how.
 */
bool copy_arguments_read(const struct arguments *arguments, struct copy_arguments *out, bool *declared);

#endif
