#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails when a page names a file or folder of the tree that is not there: text in backquotes that begins with a folder of the
# tree and has a slash. Patterns (*, [], {}) and what a build makes are left out.
#
# usage: check_paths.sh ROOT
set -eu
cd "$1"
wrong=0

named_in() { # PAGE
    grep -no '`[a-z][A-Za-z0-9_./-]*/[A-Za-z0-9_./-]*`' "$1" | tr -d '`' || :
}

for page in *.md docs/*.md docs/*/*.md tests/*.md; do
    [ "$page" != CHANGELOG.md ] || continue # it tells of what was
    while IFS=: read -r line path; do
        [ -d "${path%%/*}" ] && [ "${path%%/*}" != build ] || continue
        [ -e "$path" ] && continue
        printf '%s:%s: there is no %s\n' "$page" "$line" "$path"
        wrong=1
    done <<END
$(named_in "$page")
END
done
exit "$wrong"
