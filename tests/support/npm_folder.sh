#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetch what SOURCE/package.json names from the npm registry into FOLDER, unless it is there. Where the registry cannot be
# reached: exit code 77, and a line "left out: ..." (need_npm.sh).
#
# usage: npm_folder.sh SOURCE FOLDER [OPTION OF npm install...]
set -eu
support=$(cd "$(dirname "$0")" && pwd)
source=$1
folder=$2
shift 2

mkdir -p "$folder"
cmp -s "$source/package.json" "$folder/package.json" && exit 0
rm -rf "$folder/node_modules" "$folder/new"
mkdir "$folder/new"
cp "$source/package.json" "$folder/new"
code=0
(cd "$folder/new" && sh "$support/need_npm.sh" \
    npm install "$@" --no-audit --no-fund --no-package-lock --ignore-scripts --loglevel=error) || code=$?
[ "$code" = 0 ] || exit "$code"
mv "$folder/new/node_modules" "$folder"
mv "$folder/new/package.json" "$folder"
rmdir "$folder/new"
