#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `buildah bud` of the Dockerfile, on a base that mmdebstrap makes, gives the same image twice, and its programs start in it
# as the user that it names. Exit code 77 where this cannot be tried: it needs root, buildah, mmdebstrap, and Debian's packages
# over the network.
#
# usage: check_built_image.sh ROOT
set -eu
cd "$1"
left_out() {
    echo "left out: $*"
    exit 77
}
[ "$(id -u)" = 0 ] || left_out "building the image needs root"
for program in buildah mmdebstrap; do
    command -v "$program" >/dev/null 2>&1 || left_out "$program is not installed"
done
work=$(mktemp -d)
chmod 755 "$work" # for the user of apt
trap 'rm -rf "$work"' EXIT
export STORAGE_DRIVER=vfs TMPDIR="$work"
buildah() {
    command buildah --root "$work/storage" --runroot "$work/run" "$@"
}

mmdebstrap --quiet --variant=minbase bookworm "$work/base.tar" || left_out "Debian's packages cannot be fetched"
base=$(buildah from scratch)
buildah add -q "$base" "$work/base.tar" / >/dev/null
buildah commit -q "$base" localhost/base >/dev/null
for number in 1 2; do
    buildah bud --quiet --isolation chroot --no-cache --timestamp 0 --build-arg BASE=localhost/base --iidfile "$work/id$number" . >"$work/log" 2>&1 || {
        tail -n 30 "$work/log" >&2
        exit 1
    }
done
cat "$work/id1" && echo
cmp "$work/id1" "$work/id2" || {
    echo "two builds give two images" >&2
    exit 1
}

image=$(cat "$work/id1")
run=$(buildah from "$image")
[ "$(buildah inspect --type image --format '{{.OCIv1.Config.User}}' "$image")" = 10001:10001 ] || {
    echo "the image's programs run as another user" >&2
    exit 1
}
for program in tavolad tavola-worker tavola; do
    buildah run --isolation chroot "$run" "$program" --version
done
