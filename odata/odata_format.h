/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_format.h - the form of a reply, which Accept, $format and Prefer select, and the version of the
 * service.
 */
#ifndef ODATA_ODATA_FORMAT_H
#define ODATA_ODATA_FORMAT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/* How much metadata (types and links) a JSON reply has. */
enum odata_level { ODATA_LEVEL_NONE, ODATA_LEVEL_MINIMAL, ODATA_LEVEL_FULL };

/*
 * Choose the level from the option $format, or else from the first media range of the header Accept that
 * allows JSON. If both are empty, the level is minimal.
 *
 * STATUS_INVALID  ATOM_FORMAT_NOT_SUPPORTED: only Atom or XML is accepted; INVALID_INPUT: $format has an unknown value
 */
MUST_USE enum status odata_format_choose(
    struct str accept, struct str format, enum odata_level *out, struct error *err);

/* The Content-Type of a JSON reply. */
const char *odata_format_content_type(enum odata_level level);

/* Whether a request with this Content-Type may have a JSON body. Empty: yes. */
bool odata_format_is_json(struct str content_type);

/* The header Prefer: whether the reply to an insertion has a body. */
enum odata_preference { ODATA_PREFERENCE_NONE, ODATA_PREFERENCE_CONTENT, ODATA_PREFERENCE_NO_CONTENT };
enum odata_preference odata_format_preference(struct str prefer);

/* The value of Preference-Applied; NULL: do not send the header. */
const char *odata_format_preference_applied(enum odata_preference preference);

/*
 * Check x-ms-version: a date not before 2009-07-17, the oldest version of the service. Empty: the header was
 * not sent, which is allowed. STATUS_INVALID: INVALID_HEADER_VALUE.
 */
MUST_USE enum status odata_format_check_version(struct str version, struct error *err);

#endif
