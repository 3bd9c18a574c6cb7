#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Print the path of promtool: the one in PATH, or else that of Debian's package `prometheus`, unpacked once into FOLDER and not
# installed, because its service would be started. Exit code 77, and a line "left out: ...", where it cannot be fetched.
#
# usage: get_promtool.sh FOLDER
set -eu
if command -v promtool >/dev/null 2>&1; then
    command -v promtool
    exit 0
fi
folder=$1
if [ ! -x "$folder/promtool" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    if ! (cd "$folder" && timeout 120 apt-get download -qq prometheus) >/dev/null 2>&1; then
        echo "left out: promtool is not in PATH, and Debian's package prometheus cannot be fetched"
        exit 77
    fi
    dpkg-deb -x "$folder"/prometheus_*.deb "$folder/unpacked"
    mv "$folder/unpacked/usr/bin/promtool" "$folder/promtool"
    rm -rf "$folder/unpacked" "$folder"/prometheus_*.deb
fi
printf '%s\n' "$folder/promtool"
