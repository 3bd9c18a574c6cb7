#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The image's files load, are the same twice, and run read-only as a user who owns nothing, without a database. Exit code 77
# where this cannot be tried: it needs to be root, and a mount namespace.
#
# usage: check_image.sh ROOT BIN_FOLDER
set -eu
cd "$1"
bin=$2
if [ "$(id -u)" != 0 ] || ! unshare --mount true 2>/dev/null; then
    echo "left out: running the image needs root and mount namespaces"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

digest() { # FOLDER
    tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner -cf - . | sha256sum
}

sh packaging/image_root.sh "$bin" "$work/image"
sh packaging/image_root.sh "$bin" "$work/again"
[ "$(digest "$work/image")" = "$(digest "$work/again")" ] || fail "two runs give two images"
jq -e '.packages | map(.name) | index("libgrpc29")' "$work/image/usr/share/doc/tavola/packages.spdx.json" >/dev/null ||
    fail "the list of packages does not name libgrpc29"
jq -e 'all(.packages[]; .versionInfo != "")' "$work/image/usr/share/doc/tavola/packages.spdx.json" >/dev/null ||
    fail "a package has no version"
[ -z "$(find "$work/image" -type f -perm /022)" ] || fail "files of the image can be changed by others than root"
[ ! -e "$work/image/bin/sh" ] || fail "the image has a shell"

# Read-only, as a user who is not in /etc/passwd, with the settings in SETTINGS.
cat >"$work/inside" <<'TEXT'
exec unshare --mount sh -c '
    mount --bind "$ROOT" "$ROOT" && mount -o remount,ro,bind "$ROOT" &&
        exec env -i PATH=/usr/bin $SETTINGS /usr/sbin/chroot --userspec=20002:20002 "$ROOT" "$@"' - "$@"
TEXT
inside() {
    sh "$work/inside" "$@"
}

export ROOT="$work/image" SETTINGS=
for program in tavolad tavola-worker tavola; do
    inside "$program" --version >/dev/null || fail "$program does not start in the image"
done

# Without a database the server runs, and says that it does not serve.
SETTINGS="TAVOLA_POSTGRES=postgresql://nobody@127.0.0.1:1/x TAVOLA_REDIS=redis://127.0.0.1:1 TAVOLA_AUTHENTICATION=none TAVOLA_LISTEN=127.0.0.1:0"
sh "$work/inside" tavolad >"$work/server" 2>&1 &
server=$!
tries=0
until address=$(sed -n 's/.*event=listening address=\(.*\)/\1/p' "$work/server") && [ -n "$address" ]; do
    kill -0 "$server" 2>/dev/null || fail "the server ends: $(cat "$work/server")"
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || fail "the server does not listen: $(cat "$work/server")"
    sleep 0.05
done
SETTINGS="TAVOLA_TARGET=$address"
! inside tavola health >"$work/health" 2>&1 || fail "health is good without a database"
grep -q NOT_SERVING "$work/health" || fail "health says: $(cat "$work/health")"
kill "$server"
wait "$server" || fail "the server does not end well: $(tail -n 5 "$work/server")"
