#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The version is said once, in CMakeLists.txt; the changelog and the chart agree with it.
#
#   - CHANGELOG.md begins with "## Unreleased" or with the project's version and its date;
#   - the first version in it is the project's, versions fall from top to bottom, each has a date;
#   - its parts are Security, Added, Changed, Fixed and What an upgrade asks for, in this order, each once;
#   - the chart's version and appVersion are the project's.
#
# usage: check_version.sh ROOT
set -eu
cd "$1"
version=$(sed -n 's/^project(tavola VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[ -n "$version" ] || { echo "CMakeLists.txt names no version"; exit 1; }

awk -v version="$version" '
    function complain(text) { printf "CHANGELOG.md:%d: %s\n", NR, text; wrong = 1 }
    BEGIN {
        parts = split("Security|Added|Changed|Fixed|What an upgrade asks for", order, "|")
        for (i = 1; i <= parts; i++) rank[order[i]] = i
    }
    function number(text, digits) { split(text, digits, "."); return (digits[1] * 1000 + digits[2]) * 1000 + digits[3] }
    /^## / {
        sections++
        part = 0
        if ($0 == "## Unreleased") {
            if (sections > 1) complain("only the first section may be unreleased")
            next
        }
        if ($0 !~ /^## [0-9]+\.[0-9]+\.[0-9]+ - [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]$/)
            complain("not \"## VERSION - YEAR-MONTH-DAY\": " $0)
        if (!versions++ && $2 != version) complain("the newest version is " $2 ", but CMakeLists.txt says " version)
        if (versions > 1 && number($2) >= before) complain("versions do not fall: " $2)
        before = number($2)
    }
    /^### / {
        name = substr($0, 5)
        if (!(name in rank)) complain("no part of a version is called \"" name "\"")
        else if (rank[name] <= part) complain("\"" name "\" stands behind a later part, or twice")
        part = rank[name]
    }
    END { if (!versions) complain("no version"); exit wrong }
' CHANGELOG.md

for line in "version: $version" "appVersion: \"$version\""; do
    grep -qxF "$line" helm/tavola/Chart.yaml || { echo "helm/tavola/Chart.yaml does not say: $line"; exit 1; }
done
