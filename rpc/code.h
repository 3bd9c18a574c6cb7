/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - gRPC's status codes by name.
 */
#ifndef RPC_CODE_H
#define RPC_CODE_H

enum { RPC_CODES = 17 };

/*
 * The name of a code: 14 is "UNAVAILABLE". A number that is no code is "UNKNOWN", as the gRPC protocol
 * requires.
 */
const char *rpc_code_name(int code);

#endif
