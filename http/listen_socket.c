/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen_socket.c - see the header.
 */
#include "http/listen_socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { HOST_BYTES = 256 };

static int listen_unix(const char *path, int backlog)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd;

    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 && errno == ECONNREFUSED)
        (void)unlink(path); /* left behind by a process that crashed */
    if (fd >= 0 &&
        (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(fd, backlog) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static int listen_one(const struct addrinfo *address, int backlog)
{
    int fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, address->ai_protocol);
    int yes = 1;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, backlog) == 0)
        return fd;
    close(fd);
    return -1;
}

static int listen_tcp(const char *text, int backlog)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
    const char *colon = strrchr(text, ':');
    bool bracketed = text[0] == '[';
    struct addrinfo *found = NULL;
    char host[HOST_BYTES];
    int fd;

    snprintf(host, sizeof(host), "%.*s", (int)(colon - text) - (bracketed ? 2 : 0), text + bracketed);
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    fd = listen_one(found, backlog);
    freeaddrinfo(found);
    return fd;
}

enum status listen_socket_open(const char *address, int backlog, int *out, struct error *err)
{
    int fd =
        strncmp(address, "unix:", 5) == 0 ? listen_unix(address + 5, backlog) : listen_tcp(address, backlog);

    if (fd < 0)
        return error_set(err, STATUS_UNAVAILABLE, "cannot listen on %s: %s", address, strerror(errno));
    *out = fd;
    return STATUS_OK;
}

int listen_socket_port(int fd)
{
    struct sockaddr_storage address = { 0 };
    socklen_t size = sizeof(address);

    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return 0;
    if (address.ss_family == AF_INET)
        return ntohs(((const struct sockaddr_in *)(const void *)&address)->sin_port);
    if (address.ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)(const void *)&address)->sin6_port);
    return 0;
}
