#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: check_alerts.sh ROOT TOOLS_FOLDER
set -eu
here=$(dirname "$0")
code=0
promtool=$(sh "$here/get_promtool.sh" "$2/promtool") || code=$?
if [ "$code" != 0 ]; then
    printf '%s\n' "$promtool"
    exit "$code"
fi
exec /usr/bin/python3 -B "$here/check_alerts.py" "$1" "$promtool"
