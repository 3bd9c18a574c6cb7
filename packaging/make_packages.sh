#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Make the Debian packages from what has been built.
#
# usage: make_packages.sh BUILD_FOLDER OUT_FOLDER
set -eu
rm -rf "$2"
mkdir -p "$2"
cpack --config "$1/CPackConfig.cmake" -G DEB -B "$2" >"$2/log" 2>&1 || {
    cat "$2/log" >&2
    exit 1
}
rm -rf "$2/_CPack_Packages" "$2/log"
