/* SPDX-License-Identifier: Apache-2.0 */
/*
 * property_name.h - which names a property may have.
 *
 * A letter or underscore first, then letters, digits and underscores. Beyond ASCII the rule does
 * not follow the Unicode categories, which change with every version of a library or locale: every
 * character is accepted but controls, spaces, private use, noncharacters and the blocks of
 * punctuation and symbols listed in property_name.c. So a few marks, and digits of other scripts in
 * front, pass that the Azure Table service refuses; no name that it accepts for its letters and
 * digits is refused.
 */
#ifndef DOMAIN_PROPERTIES_PROPERTY_NAME_H
#define DOMAIN_PROPERTIES_PROPERTY_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

/*
 * STATUS_OK
 * STATUS_INVALID  INVALID_INPUT: not UTF-8; PROPERTY_NAME_TOO_LONG; PROPERTY_NAME_INVALID: empty, a
 *                 character that is not allowed, or PartitionKey, RowKey, Timestamp
 */
MUST_USE enum status property_name_check(struct str name, struct error *err);

/* The rule for characters, in words. */
#define PROPERTY_NAME_ALLOWED "a letter or underscore, then letters, digits and underscores"

/*
 * The position of the first character that is not allowed; false: there is none. For callers that
 * find a name inside a longer text and report its position. name must be UTF-8; its length and
 * reserved names are not checked.
 */
bool property_name_misfit(struct str name, size_t *position, uint32_t *character);

enum { PROPERTY_SUBJECT_BYTES = 96 };

/*
 * The words for a property in a message: `property "Age"`, with the name cut and controls replaced,
 * so that the message stays one line; "the value" if name is empty. Returns out.
 */
const char *property_name_subject(struct str name, char out[static PROPERTY_SUBJECT_BYTES]);

/* Add name as metadata `property`, unless it is empty or not UTF-8. */
void property_name_blame(struct error *err, struct str name);

/*
 * Where an index entry keeps its source key: entries have these properties, and entities cannot
 * have them.
 */
#define PROPERTY_SOURCE_PARTITION STR_LITERAL("$SourcePartitionKey")
#define PROPERTY_SOURCE_ROW STR_LITERAL("$SourceRowKey")
bool property_name_is_source(struct str name);

#endif
