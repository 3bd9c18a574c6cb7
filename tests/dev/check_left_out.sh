#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that need the npm registry are left out where it cannot be reached, with the reason; a package that the registry does
# not have is a failure. What ctest has left out is told by name and reason.
#
# usage: check_left_out.sh ROOT BIN_FOLDER
set -eu
root=$1
bin=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    printf '%s\n' "$*" >&2
    cat "$work/out" >&2
    exit 1
}

# No program listens on port 9 of this machine; the cache is empty, and helm is not in PATH.
without_npm() { # COMMAND...
    mkdir -p "$work/path"
    for program in env sh dirname mktemp rm mkdir cat sed head timeout npm npx node python3 git grep bash; do
        ln -sf "$(command -v "$program")" "$work/path/$program"
    done
    env PATH="$work/path" npm_config_cache="$work/cache" npm_config_registry=http://127.0.0.1:9 "$@" >"$work/out" 2>&1
}

expect_left_out() { # COMMAND...
    code=0
    without_npm "$@" || code=$?
    [ "$code" = 77 ] || fail "not left out, but exit code $code: $*"
    grep -q '^left out: the npm registry cannot be reached (ECONNREFUSED)' "$work/out" || fail "no reason: $*"
}

expect_left_out sh "$root/tests/helm/check_chart.sh" "$root" "$work/tools" "$bin"
expect_left_out /usr/bin/python3 -B "$root/tests/docs/run_docs.py" "$root" "$bin" "$work/docs"

printf '#!/bin/sh\necho "npm error code E404" >&2\nexit 1\n' >"$work/no_such_package"
chmod +x "$work/no_such_package"
code=0
sh "$root/tests/support/need_npm.sh" "$work/no_such_package" >"$work/out" 2>&1 || code=$?
[ "$code" = 1 ] || fail "a package that is not there was left out: exit code $code"

mkdir "$work/project"
cat >"$work/project/CTestTestfile.cmake" <<'END'
add_test(runs true)
add_test(tells sh -c "echo some words; echo 'left out: the moon is not up'; exit 77")
add_test(silent sh -c "exit 77")
add_test(other sh -c "echo some words; echo there is no package index; exit 77")
add_test(partly sh -c "echo 'left out: one case, without a network'")
set_tests_properties(tells silent other PROPERTIES SKIP_RETURN_CODE 77)
END
ctest --test-dir "$work/project" --output-junit "$work/junit.xml" >"$work/out" 2>&1 || fail "tests that are left out are failures"
sh "$root/tests/support/left_out.sh" "$work/project" "$work/junit.xml" >"$work/out"
cat >"$work/want" <<'END'
tells: the moon is not up
silent: it says no reason
other: there is no package index
partly: one case, without a network
END
cmp "$work/want" "$work/out" || fail "told otherwise:"
