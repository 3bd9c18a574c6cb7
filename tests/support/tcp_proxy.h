/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_proxy.h - stands between a program and PostgreSQL, forwards bytes, and cuts connections at a chosen
 * statement: what a network does to a COMMIT.
 *
 * It listens on a Unix socket in a folder of its own and follows the wire protocol only so far as to know
 * which prepared statement a message executes and how many answers are owed. One thread; everything may
 * be called from any thread.
 */
#ifndef TESTS_SUPPORT_TCP_PROXY_H
#define TESTS_SUPPORT_TCP_PROXY_H

#include <stdbool.h>

enum tcp_proxy_cut {
    CUT_BEFORE, /* the statement and all behind it never reach the server; both sides are closed */
    CUT_AFTER,  /* the server carries it out; its answer is dropped, then both sides are closed */
    CUT_LATE,   /* the caller's side is closed; the server gets the rest when tcp_proxy_release is called */
};

struct tcp_proxy;

/* In front of the server of this connection string. Fails the test if it cannot. */
struct tcp_proxy *tcp_proxy_start(const char *conninfo);
void tcp_proxy_stop(struct tcp_proxy *proxy);

/* The connection string that goes through the proxy. */
const char *tcp_proxy_conninfo(const struct tcp_proxy *proxy);

/* Cut the connection on which this prepared statement is executed next, and so for the next `times`. */
void tcp_proxy_cut(struct tcp_proxy *proxy, const char *statement, enum tcp_proxy_cut how, int times);

/* From the next execution of this statement on, its connection brings no more answers. */
void tcp_proxy_mute(struct tcp_proxy *proxy, const char *statement);

/* How many connections have been cut. */
int tcp_proxy_cuts(struct tcp_proxy *proxy);

/* Let what CUT_LATE holds back go on to the server. */
void tcp_proxy_release(struct tcp_proxy *proxy);

/* After the next cut, and until told otherwise, nobody gets through any more; false: they do again. */
void tcp_proxy_refuse_after_cut(struct tcp_proxy *proxy, bool refuse);

/* Close all connections and take no new ones; false: take new ones. */
void tcp_proxy_down(struct tcp_proxy *proxy, bool down);

#endif
