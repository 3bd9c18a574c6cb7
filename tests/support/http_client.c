/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_client.c - see the header.
 */
#include "tests/support/http_client.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { PART_BYTES = 4096, TIMEOUT_SECONDS = 10 };

int http_client_open(int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    const struct timeval timeout = { .tv_sec = TIMEOUT_SECONDS };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_int_ge(fd, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)), 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

void http_client_send(int fd, const char *text)
{
    size_t length = strlen(text);

    ck_assert_int_eq(send(fd, text, length, MSG_NOSIGNAL), (ssize_t)length);
}

char *http_client_read_until(int fd, const char *text)
{
    struct buf all;

    buf_init(&all, NULL);
    *buf_reserve(&all, 1) = '\0';
    while (!strstr(all.data, text)) {
        ssize_t got = recv(fd, buf_reserve(&all, PART_BYTES + 1), PART_BYTES, 0);

        if (got <= 0)
            break;
        all.len += (size_t)got;
        all.data[all.len] = '\0';
    }
    return all.data;
}

char *http_client_ask(int port, const char *request)
{
    int fd = http_client_open(port);
    char *reply;

    http_client_send(fd, request);
    reply = http_client_read_until(fd, "\xFF never sent");
    close(fd);
    return reply;
}
