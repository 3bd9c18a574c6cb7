/* SPDX-License-Identifier: Apache-2.0 */
/* header_name.h - names of headers of HTTP and gRPC. Pure. */
#ifndef BASE_HEADER_NAME_H
#define BASE_HEADER_NAME_H

#include <stdbool.h>

#include "base/str.h"

/* Whether the text is a token: RFC 9110, 5.6.2. */
bool header_name_is_valid(struct str name);

#endif
