/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - gRPC's status codes by name.
 */
#ifndef RPC_CODE_H
#define RPC_CODE_H

enum { RPC_CODES = 17 };

/* 14 is "UNAVAILABLE"; a number that is none is "UNKNOWN", as the protocol has it. */
const char *rpc_code_name(int code);

#endif
