#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run a command that fetches from the npm registry. Where the registry cannot be reached, the test that calls this is left
# out: exit code 77, with the reason in a line "left out: ..." on standard output, which ./dev test repeats at its end.
# A package that is not there, or not what it should be, is a failure like any other.
#
# usage: need_npm.sh COMMAND [ARGUMENT...]
set -u
unreachable='E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|SOCKETTIMEOUT|HOSTUNREACH|NETUNREACH|PIPE|PROTO)|ERR_SOCKET|E(401|403|407|429|5[0-9][0-9])|CERT|ISSUER|SELF_SIGNED|UND_ERR'
said=$(mktemp)
trap 'rm -f "$said"' EXIT

code=0
npm_config_fetch_retries=${npm_config_fetch_retries:-1} npm_config_fetch_retry_mintimeout=1000 \
    timeout -k 5 "${NEED_NPM_SECONDS:-120}" "$@" 2>"$said" || code=$?
cat "$said" >&2
[ "$code" != 0 ] || exit 0
why=$(sed -nE "s/^npm (error|ERR!) code (($unreachable).*)\$/\\2/p" "$said" | head -n 1)
[ "$code" != 124 ] && [ "$code" != 137 ] || why="no answer in time"
[ -n "$why" ] || exit "$code"
echo "left out: the npm registry cannot be reached ($why), and this needs: $*"
exit 77
