#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_sim.sh SIM - a slice of the schedules, and that the simulation notices a missing guard.
set -eu
"$1" --schedules 20000
for guard in G7 G8 G9 G10 G14 I8; do
    if out=$("$1" --schedules 20000 --without "$guard"); then
        printf 'without %s nothing failed\n' "$guard"
        exit 1
    fi
    printf 'without %-4s %s\n' "$guard" "$(printf '%s' "$out" | head -n 1)"
done
