#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `helm upgrade` from the chart of the release before (the commit in tests/upgrade/PREVIOUS) would work: this chart takes the
# values that were set for the other one, keeps its objects, and changes no field that Kubernetes does not let change.
#
# usage: check_upgrade.sh ROOT TOOLS_FOLDER
set -eu
here=$(dirname "$0")
root=$1
code=0
helm=$(sh "$here/get_helm.sh" "$2") || code=$?
if [ "$code" != 0 ]; then
    printf '%s\n' "$helm"
    exit "$code"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HELM_CACHE_HOME="$work/cache" HELM_CONFIG_HOME="$work/config" HELM_DATA_HOME="$work/data"
previous=$(cat "$root/tests/upgrade/PREVIOUS")
if ! git -C "$root" archive "$previous" helm/tavola 2>/dev/null | tar -x -C "$work" 2>/dev/null; then
    echo "left out: the commit $previous is not in this clone"
    exit 77
fi

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

# "KIND NAME" of each object, and the selector of each Deployment behind "KIND NAME: ".
objects() { # FILE
    awk '
        /^---/ { kind = name = ""; selecting = 0 }
        /^kind: / { kind = $2 }
        /^  name: / && name == "" { name = $2; print kind, name }
        /^  selector:/ { selecting = (kind == "Deployment"); next }
        /^  [a-z]/ { selecting = 0 }
        selecting { print kind, name ":", $0 }
    ' "$1" | sort
}

settings='--set server.tls.existingSecret=served --set networkPolicy.enabled=true --set server.autoscaling.enabled=true'
# shellcheck disable=SC2086 # a list of words
for chart in "$work/helm/tavola" "$root/helm/tavola"; do
    # What `helm upgrade --reuse-values` gives the new chart: all values of the old one, and those that were set.
    "$helm" template demo "$chart" -f "$work/helm/tavola/values.yaml" $settings >"$work/rendered" 2>"$work/error" ||
        fail "$chart refuses the values of the chart before: $(cat "$work/error")"
    objects "$work/rendered" >"$work/$(basename "$(dirname "$(dirname "$chart")")").objects"
done
set -- "$work"/*.objects
[ "$#" = 2 ] || fail "the two charts were not rendered"
before=$work/$(basename "$work").objects
grep -q 'Deployment demo-tavola-worker: .*app.kubernetes.io' "$before" || fail "no selector was found: $(cat "$before")"
for after in "$@"; do
    gone=$(comm -23 "$before" "$after")
    [ -z "$gone" ] || fail "an upgrade would remove, or could not change: $gone"
done
