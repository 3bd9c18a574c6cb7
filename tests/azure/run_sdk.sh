#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetch the SDK from the npm registry into FOLDER, once, and run a command beside it. Exit code 77, and a line "left out: ...",
# where the registry cannot be reached.
#
# usage: run_sdk.sh FOLDER COMMAND [ARGUMENT...]
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
        npm install --no-audit --no-fund --no-package-lock --ignore-scripts --loglevel=error) || code=$?
    [ "$code" = 0 ] || exit "$code"
    mv "$folder/new/node_modules" "$folder"
    mv "$folder/new/package.json" "$folder"
    rmdir "$folder/new"
fi
cp "$here"/*.mjs "$folder"
AZURE_SDK=$folder exec "$@"
