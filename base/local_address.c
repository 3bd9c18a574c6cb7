/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_address.c - see the header.
 */
#include "base/local_address.h"

#include <arpa/inet.h>
#include <string.h>

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool local_address_is(const char *address)
{
    char host[INET_ADDRSTRLEN] = "";
    size_t len = strcspn(address, ":");
    struct in_addr ignored;

    if (starts_with(address, "unix:") || starts_with(address, "[::1]:") || starts_with(address, "localhost:"))
        return true;
    if (len >= sizeof(host))
        return false;
    memcpy(host, address, len);
    return starts_with(host, "127.") && inet_pton(AF_INET, host, &ignored) == 1;
}
