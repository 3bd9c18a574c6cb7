#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Pack the Node package as npm would publish it, and install it with its dependencies into FOLDER, once only.
#
# usage: get_node_client.sh FOLDER          77: the npm registry cannot be reached
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
cd "$1"
exec 9>lock
flock 9
rm -rf stage && mkdir -p stage/clients
cp -r "$root/clients/node" stage/clients/node
rm -rf stage/clients/node/node_modules
cp -r "$root/api" stage/api
hash=$(cat stage/clients/node/package.json stage/clients/node/lib/* $(find stage/api -name '*.proto' -o -name '*.json') | sha256sum)
[ ! -f installed ] || [ "$(cat installed)" != "$hash" ] || exit 0
rm -rf node_modules package-lock.json installed
(cd stage/clients/node && npm pack --loglevel=error --pack-destination "$1" >/dev/null)
echo '{"private": true, "type": "module"}' >package.json
npm_config_cache=${npm_config_cache:-$1/npm} sh "$root/tests/support/need_npm.sh" \
    npm install --prefer-offline --no-audit --no-fund --loglevel=error "./tavola-$(sed -n 's/.*"version": "\(.*\)".*/\1/p' stage/clients/node/package.json).tgz"
echo "$hash" >installed
