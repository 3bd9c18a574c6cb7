/* SPDX-License-Identifier: Apache-2.0 */
/*
 * invitation.h - what a private stack tells its user once it is ready: where it serves, and commands to type that
 * reach it as it is, over TLS and with client certificates too.
 */
#ifndef CLIENT_DEV_INVITATION_H
#define CLIENT_DEV_INVITATION_H

#include "client/dev/stack.h"

/* Print it on standard output. The stack has a server. */
void invitation_print(const struct stack *stack);

#endif
