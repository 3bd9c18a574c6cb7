#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The build asks for nothing but what ./dev installs for it: on a machine without the commands and libraries that tests,
# bench and lint bring, it is still configured, as the first `./dev run` does.
#
# usage: check_configure.sh ROOT
set -eu
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The commands that the lists name, one a line: PACKAGE:COMMAND, or a command called as its package.
commands_of() { # LIST
    awk -v list="$1" '
        index($0, list "=\"") == 1 { inside = 1; sub(/^[^"]*"/, "") }
        inside { done = sub(/".*/, ""); print; if (done) exit }
    ' "$root/dev" | tr -s ' ' '\n' | sed 's/.*://; /^\$/d; /^$/d'
}

commands_of build_packages >"$work/kept"
for list in run demo test bench peer lint; do
    commands_of "${list}_packages"
done | grep -vxFf "$work/kept" >"$work/hidden"
grep -qx spin "$work/hidden" || { echo "the lists of ./dev were not found" >&2; exit 1; }

mkdir "$work/bin"
for folder in /usr/local/bin /usr/bin /usr/sbin; do
    find "$folder" -maxdepth 1 ! -type d -exec ln -sf -t "$work/bin" {} +
done
while IFS= read -r name; do
    rm -f "$work/bin/$name"
done <"$work/hidden"

# Of a library the build sees what pkg-config knows about it; gRPC alone it looks for itself, and every build has that.
mkdir "$work/pkgconfig"
pkg-config --variable pc_path pkg-config | tr : '\n' | while IFS= read -r folder; do
    [ ! -d "$folder" ] || find "$folder" -maxdepth 1 -name '*.pc' -exec ln -sf -t "$work/pkgconfig" {} +
done
[ -e "$work/pkgconfig/libpq.pc" ] || { echo "pkg-config's files were not found" >&2; exit 1; }
while IFS= read -r name; do
    dpkg-query -L "$name" 2>/dev/null | sed -n 's,.*/pkgconfig/,,p'
done <"$work/hidden" | while IFS= read -r file; do
    rm -f "$work/pkgconfig/$file"
done

if ! PATH=$work/bin PKG_CONFIG_LIBDIR=$work/pkgconfig cmake -S "$root" -B "$work/build" -G Ninja \
    -D "CMAKE_IGNORE_PATH=/usr/local/bin;/usr/bin;/bin;/usr/sbin;/sbin" >"$work/log" 2>&1; then
    cat "$work/log" >&2
    exit 1
fi
