#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The include check sees what it is there for: each of these trees must be refused, the last one accepted.
#
# usage: check_includes_test.sh CHECK
set -eu
check=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fresh_tree() {
    rm -rf "$work/tree"
    for folder in base domain api odata store queue rpc http chunks service workers client; do
        mkdir -p "$work/tree/$folder"
    done
}

expect_refused() { # FILE INCLUDE
    fresh_tree
    printf '#include %s\n' "$2" >"$work/tree/$1"
    if sh "$check" "$work/tree" >"$work/out"; then
        echo "not refused: $2 in $1"
        exit 1
    fi
    grep -q "^$1:1:" "$work/out" || { echo "not named: $2 in $1"; exit 1; }
}

expect_refused base/a.c '"domain/entities/etag.h"'
expect_refused domain/a.h '"store/store.h"'
expect_refused store/a.c '"queue/queue.h"'
expect_refused rpc/a.c '"domain/reason.h"'
expect_refused service/a.c '"workers/loop.h"'
expect_refused http/a.c '"rpc/server.h"'
expect_refused workers/a.c '"odata/odata_error.h"'
expect_refused client/a.c '"service/methods.h"'
expect_refused base/a.c '"log.h"'
expect_refused service/a.c '<grpc/grpc.h>'
expect_refused client/a.c '<grpc/support/log.h>'
expect_refused workers/a.c '<libpq-fe.h>'
expect_refused service/a.c '<microhttpd.h>'
expect_refused store/a.c '<hiredis/hiredis.h>'
expect_refused client/a.c '"tavola/v1/table_service.pb-c.h"'
expect_refused client/a.c '"rpc/client.h"'
expect_refused client/a.c '<histedit.h>'

fresh_tree
printf '#include <stdio.h>\n#include "domain/entities/etag.h"\n#include "rpc/server.h"\n' >"$work/tree/service/a.c"
sh "$check" "$work/tree"
