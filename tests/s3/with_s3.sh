#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetch s3rver, an emulator of Amazon S3 that verifies signatures, from the npm registry into FOLDER, once, and run a command
# that finds its folder in TEST_S3. Where the registry cannot be reached: exit code 77, and a line "left out: ...".
#
# usage: with_s3.sh FOLDER COMMAND [ARGUMENT...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
shift

mkdir -p "$folder"
if ! cmp -s "$here/package.json" "$folder/package.json"; then
    rm -rf "$folder/node_modules" "$folder/new"
    mkdir "$folder/new"
    cp "$here/package.json" "$folder/new"
    code=0
    (cd "$folder/new" && sh "$here/../support/need_npm.sh" \
        npm install --prefer-offline --no-audit --no-fund --no-package-lock --ignore-scripts --loglevel=error) || code=$?
    [ "$code" = 0 ] || exit "$code"
    mv "$folder/new/node_modules" "$folder"
    mv "$folder/new/package.json" "$folder"
    rmdir "$folder/new"
fi
cp "$here/server.mjs" "$folder"
TEST_S3=$folder exec "$@"
