#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A private stack whose server speaks TLS, also with client certificates: it is ready soon, nothing talks plain text to the
# server meanwhile, and what it tells its user to type works.
#
# usage: check_tls.sh BIN_FOLDER
set -eu
tavola=$1/tavola
for name in $(env | sed -n 's/^\(TAVOLA_[A-Za-z0-9_]*\)=.*/\1/p'); do
    unset "$name"
done
work=$(mktemp -d)
chmod 755 "$work"
supervisor=
trap '[ -z "$supervisor" ] || kill -TERM "$supervisor" 2>/dev/null || :; wait; rm -rf "$work"' EXIT

fail() {
    printf '%s\n' "$*" >&2
    cat "$work/out" >&2
    [ ! -f "$work/data/log/tavolad.log" ] || tail -n 5 "$work/data/log/tavolad.log" >&2
    exit 1
}

# Look every 50 ms until the command succeeds, for half a minute.
wait_for() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || fail "never came true: $*"
        kill -0 "$supervisor" 2>/dev/null || fail "the stack has ended"
        sleep 0.05
    done
}

sign() { # NAME
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$work/$1.key" -subj "/CN=$1" \
        -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' -out "$work/$1.csr" 2>/dev/null
    openssl x509 -req -in "$work/$1.csr" -CA "$work/ca.pem" -CAkey "$work/ca.key" -CAcreateserial \
        -copy_extensions copy -days 2 -out "$work/$1.pem" 2>/dev/null
}

free_port() {
    /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

start_run() { # SETTING=VALUE...
    : >"$work/out"
    env TAVOLA_DEV_DATA="$work/data" TAVOLA_LISTEN="$address" TAVOLA_TLS_CERT="$work/server.pem" \
        TAVOLA_HTTP_LISTEN="$http" TAVOLA_TLS_KEY="$work/server.key" "$@" "$tavola" dev run >"$work/out" 2>&1 &
    supervisor=$!
    wait_for grep -q 'Ctrl-C stops everything' "$work/out"
}

stop_run() {
    kill -INT "$supervisor"
    wait "$supervisor" || fail "an orderly stop did not end with 0"
    supervisor=
    errors=$(grep -ciE 'handshake|ssl_transport' "$work/data/log/tavolad.log" || :)
    [ "$errors" = 0 ] || fail "$errors handshakes of the stack's own checks failed"
}

expect() { # PATTERN
    grep -qE -- "$1" "$work/out" || fail "not said: $1"
}

# The line of the invitation that checks the server's health does so, as it stands there.
follow_hint() {
    hint=$(sed -n 's/^  check it  *\(.*tavola .*\)$/\1/p' "$work/out")
    [ -n "$hint" ] || fail "no hint how to check the server"
    (PATH=/usr/bin:/bin && eval "$hint") >/dev/null || fail "does not work: $hint"
}

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$work/ca.key" -subj /CN=authority \
    -days 2 -out "$work/ca.pem" 2>/dev/null
sign server
sign caller
address=127.0.0.1:$(free_port)
http=127.0.0.1:$(free_port)

# The stack knows no authority: it is ready all the same, and the hints say where one is wanted.
start_run
expect "^Tavola serves on $address \(gRPC over TLS, without authentication"
expect "buf curl --protocol grpc --cacert CA.pem .*https://$address"
expect 'grpc.secure_channel'
expect "^  look at it  *https://$http/\$"
expect "DefaultEndpointsProtocol=https;.*TableEndpoint=https://$http/devstoreaccount1;"
TAVOLA_DEV_DATA=$work/data "$tavola" dev status >"$work/status" || fail "dev status: not running"
grep -qx 'transport TLS' "$work/status" || fail "dev status does not say TLS: $(cat "$work/status")"
"$tavola" --target "$address" --ca "$work/ca.pem" health >/dev/null || fail "the server does not serve over TLS"
stop_run

# With an authority, and callers that must have a certificate.
start_run TAVOLA_CA="$work/ca.pem" TAVOLA_CLIENT_CERT="$work/caller.pem" TAVOLA_CLIENT_KEY="$work/caller.key" \
    TAVOLA_TLS_CLIENT_CA="$work/ca.pem"
expect "buf curl --protocol grpc --cacert $work/ca.pem --cert $work/caller.pem --key $work/caller.key "
follow_hint
TAVOLA_DEV_DATA=$work/data "$tavola" dev status >"$work/status" || fail "dev status: not running"
grep -qx 'transport TLS with client certificates' "$work/status" || fail "dev status does not say it: $(cat "$work/status")"
stop_run

# An authority that did not sign the server's certificate is told, not waited for.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$work/other.key" -subj /CN=other \
    -days 2 -out "$work/other.pem" 2>/dev/null
start_run TAVOLA_CA="$work/other.pem"
expect '^dev: tavolad serves, but not to the settings TAVOLA_CA, TAVOLA_CLIENT_CERT and TAVOLA_CLIENT_KEY: '
kill -INT "$supervisor"
wait "$supervisor" || fail "an orderly stop did not end with 0"
supervisor=
