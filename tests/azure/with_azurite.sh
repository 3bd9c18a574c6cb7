#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetch Azurite, the public emulator of Azure Tables, from the npm registry into FOLDER, once, and run a command that
# finds its folder in AZURITE. Where the registry cannot be reached: exit code 77, and a line "left out: ...".
#
# usage: with_azurite.sh FOLDER COMMAND [ARGUMENT...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
shift
version=$(sed -n 's/.*"azurite": "\(.*\)".*/\1/p' "$here/../../bench/peers/package.json")

if [ ! -e "$folder/$version" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    echo '{ "private": true }' >"$folder/package.json"
    code=0
    (cd "$folder" && sh "$here/../support/need_npm.sh" \
        npm install --prefer-offline --no-audit --no-fund --no-package-lock --ignore-scripts --loglevel=error "azurite@$version") || code=$?
    [ "$code" = 0 ] || exit "$code"
    : >"$folder/$version"
fi
AZURITE=$folder exec "$@"
