/* SPDX-License-Identifier: Apache-2.0 */
/*
 * invitation.h - the text that a private stack prints once it is ready: its addresses, and commands that
 * reach it as it is configured, with TLS and client certificates too.
 */
#ifndef CLIENT_DEV_INVITATION_H
#define CLIENT_DEV_INVITATION_H

#include "client/dev/stack.h"

/* Print the text on standard output. The stack must have a server. */
void invitation_print(const struct stack *stack);

#endif
