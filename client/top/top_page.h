/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_page.h - what `tavola top` prints where there is no terminal: one page of plain text.
 */
#ifndef CLIENT_TOP_TOP_PAGE_H
#define CLIENT_TOP_TOP_PAGE_H

#include <stdbool.h>

#include "client/lib/tavola.h"

/* false: a call failed, and standard error has the cause. */
bool top_page_print(struct tavola *client);

#endif
