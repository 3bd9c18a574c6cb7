#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a run of ctest has left out, and why: a line "NAME: REASON" for each "left out: REASON" that a test has printed, and
# for each other test that was skipped, with the last line it has printed.
#
# usage: left_out.sh FOLDER JUNIT        where ctest ran, and what its option --output-junit wrote
set -eu
log=$1/Testing/Temporary/LastTest.log
[ -f "$log" ] && [ -f "$2" ] || exit 0
awk '
    function finish() {
        if (skipped[name] && !told)
            print name ": " (last == "" ? "it says no reason" : last)
        told = 0
        last = ""
    }
    FNR == NR {
        if (/<testcase / && /status="(notrun|disabled)"/ && match($0, /name="[^"]*"/))
            skipped[substr($0, RSTART + 6, RLENGTH - 7)] = 1
        next
    }
    /^[0-9]+\/[0-9]+ Testing: / { finish(); sub(/^[^:]*: /, ""); name = $0; inside = 0; next }
    /^Output:$/ { inside = 1; next }
    /^<end of output>$/ { inside = 0 }
    inside && /^left out: / { sub(/^left out: /, ""); print name ": " $0; told = 1; next }
    inside && !/^-+$/ && NF { last = $0 }
    END { finish() }
' "$2" "$log"
