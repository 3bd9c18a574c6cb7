#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_models.sh - every model holds, and falls as soon as one of its guards is left out.
# A model's guards stand in its first comment: "guards: G8 G9". NO_G8 leaves G8 out.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

explore() { # MODEL [-DNO_Gn]: prints what the checker says
    cp "$here/$1.pml" "$work/"
    (
        cd "$work"
        spin ${2:+"$2"} -a "$1.pml" >spin.log 2>&1 || { cat spin.log >&2; exit 1; }
        # Not optimized: the compiler would take longer than the search does.
        cc -w -DSAFETY -DMEMLIM=1500 -o pan pan.c
        ./pan -m100000
    )
}

failed=0
say() { # MODEL GUARD VERDICT
    printf '%-12s %-10s %s\n' "$1" "$2" "$3"
}

for file in "$here"/*.pml; do
    model=$(basename "$file" .pml)
    out=$(explore "$model")
    states=$(printf '%s\n' "$out" | sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p')
    case $out in
    *"max search depth too small"* | *"memory limit"*) say "$model" all "NOT SEARCHED TO THE END"; failed=1 ;;
    *"errors: 0"*) say "$model" all "holds in $states states" ;;
    *) say "$model" all "DOES NOT HOLD"; printf '%s\n' "$out"; failed=1 ;;
    esac
    guards=$(sed -n 's/^ \* guards: //p' "$file")
    [ -n "$guards" ] || { say "$model" - "NAMES NO GUARDS"; failed=1; }
    for guard in $guards; do
        case $(explore "$model" "-DNO_$guard") in
        *"assertion violated"*) say "$model" "without $guard" "falls, as it should" ;;
        *) say "$model" "without $guard" "STILL HOLDS"; failed=1 ;;
        esac
    done
done
exit "$failed"
