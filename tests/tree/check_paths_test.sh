#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The check of paths in pages finds what is gone, and nothing else.
#
# usage: check_paths_test.sh CHECK
set -eu
check=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/docs/folder" "$work/tests" "$work/store/session"
touch "$work/store/session/fence.c" "$work/tests/README.md"

page() { # TEXT: of docs/page.md
    printf '%s\n' "$1" >"$work/docs/page.md"
}

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

printf '%s\n' 'See `docs/page.md`.' >"$work/README.md"
printf '%s\n' 'See `store/session/`.' >"$work/docs/folder/page.md"
page 'Read `store/session/fence.c` and `store/`, say `a/b`, run `build/bin/tavola`, look at `store/*.c`.'
sh "$check" "$work" || fail "a page that is right was refused"
page 'Read
`store/fence.c`.'
! sh "$check" "$work" >"$work/out" || fail "a file that is gone was not found"
grep -qx 'docs/page.md:2: there is no store/fence.c' "$work/out" || fail "it said: $(cat "$work/out")"
page 'Nothing.'
printf '%s\n' 'See `store/gone/`.' >"$work/docs/folder/page.md"
! sh "$check" "$work" >"$work/out" || fail "a folder that is gone was not found in a page below docs"
