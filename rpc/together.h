/*
 * together.h - replies that are made together leave together.
 *
 * The core sends one packet per reply. Between rpc_together(true) and rpc_together(false) what the calling thread
 * sends waits in the kernel, behind a socket's other bytes, and leaves in as few packets as it fits in. Nothing is
 * kept here: order, back-pressure and encryption are as ever, and whatever happens the kernel sends after a fifth
 * of a second at most. TCP alone knows how; other sockets send at once.
 */
#ifndef RPC_TOGETHER_H
#define RPC_TOGETHER_H

#include <stdbool.h>

/* Never blocks. Not to be nested. */
void rpc_together(bool begins);

#endif
