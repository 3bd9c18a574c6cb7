#!/bin/sh
# Every source file says its licence, "SPDX-License-Identifier: Apache-2.0", in its first line, or in the second behind "#!";
# LICENSE says the same.
#
# usage: check_license.sh ROOT
set -eu
cd "$1"
tag='SPDX-License-Identifier: Apache-2.0'

# What is built, and what is input for tests, has none.
sources() {
    find . \( -name .git -o -name 'build*' -type d -o -path ./tests/fuzz/corpus -o -name __pycache__ -o -name node_modules \) \
        -prune -o -type f \( -name '*.[ch]' -o -name '*.proto' -o -name '*.sql' -o -name '*.lua' -o -name '*.py' \
        -o -name '*.sh' -o -name '*.cmake' -o -name CMakeLists.txt -o -name '*.pml' -o -name '*.js' -o -name '*.mjs' -o -name '*.yaml' \
        -o -name '*.tpl' -o -name NOTES.txt -o -name .clang-format -o -name .clang-tidy -o -path ./dev -o -path ./.ci/run \) \
        -print | sort
}

grep -qxF "$tag" LICENSE || { echo "LICENSE does not say: $tag"; exit 1; }
sources | xargs awk -v tag="$tag" '
    function finish() { if (file != "" && !found) { print file ": does not say: " tag; wrong = 1 } }
    FNR == 1 { finish(); file = FILENAME; found = 0 }
    FNR <= 2 && index($0, tag) { found = 1 }
    END { finish(); exit wrong }
' || exit 1
[ "$(sources | wc -l)" -gt 100 ] || { echo "no sources found"; exit 1; }
