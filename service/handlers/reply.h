/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply.h - encoders of the replies that several methods share.
 */
#ifndef SERVICE_HANDLERS_REPLY_H
#define SERVICE_HANDLERS_REPLY_H

#include "service/call.h"

call_encode_fn
    reply_with_write_result; /* the result of the operation's only write, with its consistency token */
call_encode_fn reply_with_table;
call_encode_fn reply_with_index;       /* the declaration and the status */
call_encode_fn reply_with_job;         /* an Operation of the API */
call_encode_fn reply_with_transaction; /* with its consistency token */
call_encode_fn reply_with_queues;      /* all queues that the operation read or changed */

#endif
