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

sh "$here/../support/npm_folder.sh" "$here" "$folder" --prefer-offline
cp "$here/server.mjs" "$folder"
TEST_S3=$folder exec "$@"
