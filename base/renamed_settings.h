/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renamed_settings.h - earlier names of settings, so that a program refuses one that is set and
 * names the new one.
 *
 * A renamed setting gets a row in the table of renamed_settings.c. Without the row it is refused
 * like any unknown name.
 */
#ifndef BASE_RENAMED_SETTINGS_H
#define BASE_RENAMED_SETTINGS_H

#include <stddef.h>

struct renamed_setting {
    const char *old_name, *new_name; /* both with the prefix TAVOLA_ */
};

extern const struct renamed_setting renamed_settings[];
extern const size_t renamed_settings_count;

/* The name that the setting has now; NULL: there never was a setting of this name. */
const char *renamed_settings_find(const char *old_name);

#endif
