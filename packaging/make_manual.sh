#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The manual page of a service: its --help, as it is, with the headings of a manual.
#
# usage: make_manual.sh PROGRAM OUT
set -eu
name=$(basename "$1")
"$1" --help >"$2.help"
version=$("$1" --version | awk '{ print $NF }')
{
    printf '.TH %s 8 "" "Tavola %s"\n.SH NAME\n' "$(printf %s "$name" | tr a-z A-Z)" "$version"
    sed -n '1s/ - / \\- /p' "$2.help"
    printf '.SH SYNOPSIS\n.nf\n'
    sed -n 's/^usage: //p' "$2.help"
    printf '.fi\n.SH "OPTIONS AND SETTINGS"\n.nf\n'
    # A line that begins with a dot or a quote would be a request; a backslash would begin an escape.
    sed -e '1,/^usage: /d' -e 's/\\/\\e/g' -e "s/^\([.']\)/\\\\\&\1/" -e 's/-/\\-/g' "$2.help"
    printf '.fi\n.SH "EXIT STATUS"\n0: it was asked to stop; 1: it failed; 2: a setting is wrong.\n'
    printf '.SH "SEE ALSO"\n.BR tavola (1)\n'
} >"$2.new"
rm "$2.help"
mv "$2.new" "$2"
