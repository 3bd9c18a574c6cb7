#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The supervisor keeps its promises: a command gets its stack and hands back its exit code, nothing of a fresh
# stack stays, data of a kept one does, and a second stack in the same folder is told who holds it.
#
# usage: check_supervisor.sh BIN_FOLDER
set -eu
tavola=$1/tavola
for name in $(env | sed -n 's/^\(TAVOLA_[A-Za-z0-9_]*\)=.*/\1/p'); do
    unset "$name"
done
work=$(mktemp -d)
chmod 755 "$work"
mkdir -m 755 "$work/tmp"
supervisor=
trap '[ -z "$supervisor" ] || kill -TERM "$supervisor" 2>/dev/null || :; wait; rm -rf "$work"' EXIT

fail() {
    printf '%s\n' "$*" >&2
    [ ! -f "$work/out" ] || cat "$work/out" >&2
    exit 1
}

# Look every 50 ms until the command succeeds, for half a minute.
wait_for() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || fail "never came true: $*"
        sleep 0.05
    done
}

start_run() {
    : >"$work/out" # not the invitation of the run before
    TAVOLA_DEV_DATA=$work/data TAVOLA_LISTEN=unix:$work/server TAVOLA_HTTP_LISTEN=$http "$tavola" dev run \
        >"$work/out" 2>&1 &
    supervisor=$!
    wait_for grep -q 'Ctrl-C stops everything' "$work/out"
}

# An address that was free a moment ago.
free_address() {
    python3 -c 'import socket; one = socket.socket(); one.bind(("127.0.0.1", 0)); print("127.0.0.1:%d" % one.getsockname()[1])'
}

http=$(free_address)

database() { # SQL
    psql -XAtq "host=$(sed -n 's/^postgres host=\([^ ]*\) .*/\1/p' "$work/data/lock") user=postgres dbname=tavola" -c "$1"
}

# A command beside a fresh stack.
code=0
TMPDIR=$work/tmp "$tavola" dev exec -- sh -c 'psql -XAtq "$TAVOLA_POSTGRES" -c "show listen_addresses" >"$0" &&
    redis-cli -s "${TAVOLA_REDIS#unix:}" ping >>"$0"; exit 7' "$work/seen" || code=$?
[ "$code" = 7 ] || fail "the command's exit code 7 came back as $code"
[ "$(cat "$work/seen")" = "
PONG" ] || fail "PostgreSQL or Redis was not there, or listens on TCP"
[ -z "$(ls "$work/tmp")" ] || fail "something stayed of the fresh stack"

code=0
TMPDIR=$work/tmp "$tavola" dev exec -- sh -c 'kill -KILL $$' || code=$?
[ "$code" = 137 ] || fail "a killed command came back as $code"

# A kept stack: held against a second one, killed, started again with its data.
start_run
TAVOLA_TARGET=unix:$work/server "$tavola" health >/dev/null || fail "the server does not serve"
grep -q "TableEndpoint=http://$http/devstoreaccount1;" "$work/out" || fail "no connection string for SDKs of Azure Tables"
python3 -c 'import sys, urllib.request; urllib.request.urlopen("http://%s/devstoreaccount1/Tables" % sys.argv[1])' "$http" ||
    fail "nothing answers at the address of the connection string"
code=0
TAVOLA_DEV_DATA=$work/other TAVOLA_LISTEN=unix:$work/server2 TAVOLA_HTTP_LISTEN=$http "$tavola" dev run >"$work/fourth" 2>&1 || code=$?
[ "$code" = 1 ] && grep -q "set TAVOLA_HTTP_LISTEN to another address" "$work/fourth" || fail "an address for HTTP that is taken is not named"
if TAVOLA_DEV_DATA=$work/data "$tavola" dev run >"$work/second" 2>&1; then
    fail "a second stack started in the same folder"
fi
grep -q "(pid $supervisor)" "$work/second" || fail "the second stack was not told who holds the folder"
if TAVOLA_DEV_DATA=$work/other TAVOLA_LISTEN=unix:$work/server "$tavola" dev run >"$work/third" 2>&1; then
    fail "a second server started on the same address"
fi
grep -q 'another program serves on' "$work/third" || fail "no word of the taken address"
if grep -q 'PostgreSQL is ready' "$work/third"; then
    fail "PostgreSQL was started for a server that has no address"
fi
database 'create table kept(x int)'
kill -KILL "$supervisor"
wait "$supervisor" || :

start_run
[ "$(database "select to_regclass('kept')")" = kept ] || fail "data was lost"
kill -INT "$supervisor"
wait "$supervisor" || fail "an orderly stop did not end with 0"
supervisor=
[ "$(sed -n 's/^dev: \(.*\) has stopped$/\1/p' "$work/out" | tr '\n' ' ')" = "tavola-worker tavolad Redis PostgreSQL " ] ||
    fail "not stopped in order"

# Misspelt settings.
if TAVOLA_LISTN=x "$tavola" dev run >"$work/out" 2>&1; then
    fail "a misspelt setting was accepted"
fi
grep -q 'did you mean TAVOLA_LISTEN?' "$work/out" || fail "no suggestion for a misspelt setting"
