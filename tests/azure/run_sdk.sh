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

sh "$here/../support/npm_folder.sh" "$here" "$folder"
cp "$here"/*.mjs "$folder"
AZURE_SDK=$folder exec "$@"
