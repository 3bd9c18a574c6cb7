/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_proxy.h - stands between a program and PostgreSQL, forwards bytes, and cuts connections at a chosen statement,
 * as a network may do at a COMMIT.
 *
 * It listens on a Unix socket in a folder of its own. It follows the wire protocol only as far as it must know which
 * prepared statement a message executes and how many answers are due. It has one thread; its functions may be called
 * from any thread.
 */
#ifndef TESTS_SUPPORT_TCP_PROXY_H
#define TESTS_SUPPORT_TCP_PROXY_H

#include <stdbool.h>

enum tcp_proxy_cut {
    CUT_BEFORE, /* the statement and all later bytes never reach the server; both sides are closed */
    CUT_AFTER,  /* the server executes the statement; its answer is dropped, then both sides are closed */
    CUT_LATE,   /* the caller's side is closed; the server gets the rest when tcp_proxy_release is called */
};

struct tcp_proxy;

/* Start a proxy for the server of this connection string. Fails the test on failure. */
struct tcp_proxy *tcp_proxy_start(const char *conninfo);
void tcp_proxy_stop(struct tcp_proxy *proxy);

/* The connection string that leads through the proxy. */
const char *tcp_proxy_conninfo(const struct tcp_proxy *proxy);

/* Cut the connection on which this prepared statement is executed next, and so on, `times` times. */
void tcp_proxy_cut(struct tcp_proxy *proxy, const char *statement, enum tcp_proxy_cut how, int times);

/* From the next execution of this statement on, drop all answers on its connection. */
void tcp_proxy_mute(struct tcp_proxy *proxy, const char *statement);

/* The number of connections that were cut. */
int tcp_proxy_cuts(struct tcp_proxy *proxy);

/* Send the bytes that CUT_LATE has held back to the server. */
void tcp_proxy_release(struct tcp_proxy *proxy);

/* true: after the next cut refuse all connections, until false is given. */
void tcp_proxy_refuse_after_cut(struct tcp_proxy *proxy, bool refuse);

/* Close all connections and accept no new ones; false: accept new ones. */
void tcp_proxy_down(struct tcp_proxy *proxy, bool down);

#endif
