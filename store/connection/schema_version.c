/* SPDX-License-Identifier: Apache-2.0 */
/* schema_version.c - see the header. */
#include "store/connection/schema_version.h"

#include <assert.h>
#include <limits.h>

#include "base/digits.h"
#include "store/migrations.h"

int schema_version_of(const struct embedded *migration)
{
    struct str name = str_of(migration->name);
    uint64_t version = 0;
    bool is_numbered = digits_take_unsigned(&name, INT_MAX, &version);

    assert(is_numbered && "a migration's name begins with its number");
    (void)is_numbered;
    return (int)version;
}

int schema_version_wanted(void)
{
    return schema_version_of(migrations_all[migrations_count - 1]);
}
