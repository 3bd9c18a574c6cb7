/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrapping_source.h - where a program has its wrapping keys from: the environment, or a file.
 */
#ifndef STORE_ACCESS_WRAPPING_SOURCE_H
#define STORE_ACCESS_WRAPPING_SOURCE_H

#include "domain/access/key_wrap.h"

/*
 * text: of TAVOLA_WRAPPING_KEY; path: of TAVOLA_WRAPPING_KEY_FILE. NULL: not set; if neither is, there are no wrapping
 * keys.
 * STATUS_INVALID: both are set, the file cannot be read, or what they hold are no wrapping keys; the message says
 * which.
 */
MUST_USE enum status wrapping_source_read(
    const char *text, const char *path, struct wrapping_keys *out, struct error *err);

#endif
