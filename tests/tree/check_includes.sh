#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails when an include points the wrong way, or when a library's headers are used outside their one place.
#
#   base <- domain <- api <- odata; domain <- store, queue; base <- rpc, http <- chunks; all <- service, workers, client
#   tests/ and bench/ are free
#
# usage: check_includes.sh ROOT
set -eu
cd "$1"
wrong=0

complain() { # FILE:LINE:TEXT REASON
    printf '%s\n    %s\n' "$1" "$2"
    wrong=1
}

# The project's headers that a folder may include, as an extended regular expression of folders.
allowed_for() { # FOLDER
    case $1 in
    base) echo 'base' ;;
    domain) echo 'base|domain' ;;
    api) echo 'base|domain|api|google|grpc|tavola|private|proto' ;; # generated messages are its own
    odata) echo 'base|domain|api|odata' ;;
    store) echo 'base|domain|store' ;;
    queue) echo 'base|domain|queue' ;;
    rpc) echo 'base|rpc' ;;
    http) echo 'base|http' ;;
    chunks) echo 'base|http|chunks' ;;
    service) echo 'base|domain|api|odata|store|queue|rpc|http|chunks|service|google|grpc|tavola|proto' ;;
    workers) echo 'base|domain|api|store|queue|rpc|http|chunks|workers' ;;
    client) echo 'base|domain|api|store|queue|rpc|http|chunks|client|google|grpc|tavola|proto' ;;
    esac
}

check_folder() { # FOLDER
    allowed=$(allowed_for "$1")
    found=$(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' --include='*.[ch]' "$1" | grep -vE "#[[:space:]]*include[[:space:]]*\"($allowed)/" || :)
    [ -n "$found" ] || return 0
    while IFS= read -r line; do
        complain "$line" "$1/ may include: $(echo "$allowed" | tr '|' ' ')"
    done <<END
$found
END
}

check_library() { # NAME FOLDER PATTERN
    folders=$(for folder in base domain api odata store queue rpc http chunks service workers client; do
        [ "$folder" = "$2" ] || printf '%s ' "$folder"
    done)
    # shellcheck disable=SC2086 # a list of folders
    found=$(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$3" --include='*.[ch]' $folders | grep -v "^$2/" || :)
    [ -n "$found" ] || return 0
    while IFS= read -r line; do
        complain "$line" "$1's headers belong to $2/ alone"
    done <<END
$found
END
}

for folder in base domain api odata store queue rpc http chunks service workers client; do
    check_folder "$folder"
done

# The command line is built on libtavola: outside client/lib it knows no generated messages and no transport.
found=$(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]*pb-c\.h|api/codec[^"]*|rpc/)' --include='*.[ch]' client |
    grep -v '^client/lib/' || :)
if [ -n "$found" ]; then
    while IFS= read -r line; do
        complain "$line" "commands read replies by tavola_ask (client/calls.h), not by generated messages"
    done <<END
$found
END
fi

check_library gRPC rpc '(grpc/(grpc|slice|byte_buffer|status|support|impl)|grpc/compression)'
check_library libpq store '(libpq-fe|libpq-events|postgresql/|libpq/)'
check_library libmicrohttpd http 'microhttpd'
check_library GnuTLS http 'gnutls/'
check_library libcurl http 'curl/'
check_library jansson api 'jansson'
check_library libjwt api 'jwt\.h'
check_library libxml2 odata 'libxml/'
check_library hiredis queue '(hiredis|hiredis/)'
check_library libedit client/shell '(histedit|editline/)'
check_library ncurses client/top '(ncurses|curses)'
exit "$wrong"
