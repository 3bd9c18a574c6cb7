/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrapping_source.h - reads the wrapping keys of a program from the environment or from a file.
 */
#ifndef STORE_ACCESS_WRAPPING_SOURCE_H
#define STORE_ACCESS_WRAPPING_SOURCE_H

#include "domain/access/key_wrap.h"

/*
 * text: the value of TAVOLA_WRAPPING_KEY; path: the value of TAVOLA_WRAPPING_KEY_FILE; NULL: not
 * set. If neither is set, there are no wrapping keys.
 *
 * STATUS_INVALID: both are set, the file cannot be read, or the text is not a list of wrapping
 * keys; the message names the variable.
 */
MUST_USE enum status wrapping_source_read(
    const char *text, const char *path, struct wrapping_keys *out, struct error *err);

#endif
