#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The check of versions refuses what it is there for, and ./dev tag makes a tag of what the check accepts only when
# the version has its date and everything is committed.
#
# usage: check_version_test.sh ROOT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

# A tree of version 1.2.3 whose changelog is standard input.
a_tree() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/helm/tavola"
    cp "$root/dev" "$work/tree/dev"
    echo 'project(tavola VERSION 1.2.3 LANGUAGES C)' >"$work/tree/CMakeLists.txt"
    printf 'version: 1.2.3\nappVersion: "1.2.3"\n' >"$work/tree/helm/tavola/Chart.yaml"
    cat >"$work/tree/CHANGELOG.md"
}

commit() {
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
    export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
    git -C "$work/tree" init -q
    git -C "$work/tree" add -A
    git -C "$work/tree" commit -qm 'Release'
}

expect_refused() { # REASON
    if sh "$here/check_version.sh" "$work/tree" >"$work/out"; then
        fail "not refused: $1"
    fi
    grep -qF "$1" "$work/out" || fail "refused, but not for: $1" "$(cat "$work/out")"
}

expect_no_tag() { # REASON
    if "$work/tree/dev" tag >"$work/out" 2>&1; then
        fail "tagged, though: $1"
    fi
    grep -qF "$1" "$work/out" || fail "not tagged, but not for: $1" "$(cat "$work/out")"
}

printf '# Changelog\n\n## 1.2.4 - 2026-01-02\n' | a_tree
expect_refused 'the newest version is 1.2.4, but CMakeLists.txt says 1.2.3'
printf '# Changelog\n\n## 1.2.3 - unreleased\n' | a_tree
expect_refused 'not "## VERSION - YEAR-MONTH-DAY"'
printf '# Changelog\n\n## 1.2.3 - 2026-01-02\n\n## 1.10.0 - 2026-01-01\n' | a_tree
expect_refused 'versions do not fall: 1.10.0'
printf '# Changelog\n\n## 1.2.3 - 2026-01-02\n\n### News\n' | a_tree
expect_refused 'no part of a version is called "News"'
printf '# Changelog\n\n## 1.2.3 - 2026-01-02\n\n### Fixed\n\n### Added\n' | a_tree
expect_refused '"Added" stands behind a later part, or twice'
printf '# Changelog\n\n## 1.2.3 - 2026-01-02\n\n## Unreleased\n' | a_tree
expect_refused 'only the first section may be unreleased'
printf '# Changelog\n\n## 1.2.3 - 2026-01-02\n' | a_tree
echo 'version: 1.2.3' >"$work/tree/helm/tavola/Chart.yaml"
expect_refused 'Chart.yaml does not say: appVersion: "1.2.3"'

printf '# Changelog\n\n## Unreleased\n\n### Added\n\n## 1.2.3 - 2026-01-02\n\n### Added\n\n- A door.\n' | a_tree
sh "$here/check_version.sh" "$work/tree" || fail "an unreleased section was refused"
commit
expect_no_tag 'CHANGELOG.md begins with "Unreleased"'

printf '# Changelog\n\n## 1.2.3 - 2026-01-02\n\n### Added\n\n- A door.\n\n## 1.2.2 - 2026-01-01\n\n- A wall.\n' | a_tree
sh "$here/check_version.sh" "$work/tree" || fail "a released section was refused"
commit
echo more >"$work/tree/more"
expect_no_tag 'not everything is committed'
rm "$work/tree/more"
"$work/tree/dev" tag >"$work/out" 2>&1 || fail "no tag was made:" "$(cat "$work/out")"
git -C "$work/tree" tag -l --format='%(objecttype) %(contents)' v1.2.3 >"$work/tag"
printf 'tag Tavola 1.2.3\n\n### Added\n\n- A door.\n\n' | cmp - "$work/tag" || fail "the tag says:" "$(cat "$work/tag")"
expect_no_tag 'v1.2.3 is there already'
