#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The files of the image: the three programs, the shared libraries that they load, the authorities of TLS, a user, and a list of
# the Debian packages that all this comes from (SPDX). No shell, no package manager. The same input gives the same bytes:
# every file has the time SOURCE_DATE_EPOCH (0).
#
# usage: image_root.sh BIN_FOLDER OUT_FOLDER      OUT_FOLDER must not exist
set -eu
bin=$1
out=$2
epoch=${SOURCE_DATE_EPOCH:-0}
umask 022
mkdir "$out"
mkdir -p "$out/usr/bin" "$out/etc/ssl/certs" "$out/usr/share/doc/tavola"

for program in tavolad tavola-worker tavola; do
    strip --strip-all -o "$out/usr/bin/$program" "$bin/$program"
    chmod 755 "$out/usr/bin/$program"
done

# The loader and every library, each at the path that the loader looks at; a library that is missing ends this.
libraries=$(ldd "$bin/tavolad" "$bin/tavola-worker" "$bin/tavola" | awk '
    /not found/ { print > "/dev/stderr"; exit 1 }
    { for (i = 1; i <= NF; i++) if ($i ~ /^\//) { sub(/:$/, "", $i); if ($i ~ /\.so/) print $i } }' | sort -u)
for library in $libraries; do
    mkdir -p "$out${library%/*}"
    cp -L "$library" "$out$library"
    chmod 644 "$out$library"
done
chmod 755 "$out"/lib*/ld-linux*

cp -L /etc/ssl/certs/ca-certificates.crt "$out/etc/ssl/certs/"
printf 'root:x:0:0:root:/:/sbin/nologin\ntavola:x:10001:10001:tavola:/:/sbin/nologin\n' >"$out/etc/passwd"
printf 'root:x:0:\ntavola:x:10001:\n' >"$out/etc/group"
printf 'hosts: files dns\n' >"$out/etc/nsswitch.conf"

# The names of the Debian packages, a line each. dpkg knows a file by its path with /usr or without.
packages() {
    for library in $libraries; do
        real=$(readlink -f "$library")
        printf '%s\n%s\n/usr%s\n' "$real" "${real#/usr}" "$real"
    done | xargs dpkg-query -S 2>/dev/null | sed 's/:.*//'
    echo ca-certificates
}

version=$("$bin/tavola" --version | awk '{ print $NF }')
{
    printf '{\n "spdxVersion": "SPDX-2.3",\n "dataLicense": "CC0-1.0",\n "SPDXID": "SPDXRef-DOCUMENT",\n'
    printf ' "name": "tavola-%s",\n "documentNamespace": "https://spdx.org/spdxdocs/tavola-%s",\n' "$version" "$version"
    printf ' "creationInfo": { "created": "%s", "creators": ["Tool: image_root.sh"] },\n' \
        "$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)"
    printf ' "packages": [\n  { "name": "tavola", "SPDXID": "SPDXRef-tavola", "versionInfo": "%s", ' "$version"
    printf '"downloadLocation": "NOASSERTION", "licenseDeclared": "Apache-2.0" }'
    packages | sort -u | while read -r package; do
        printf ',\n  { "name": "%s", "SPDXID": "SPDXRef-%s", "versionInfo": "%s", "downloadLocation": "NOASSERTION", ' \
            "$package" "$(printf %s "$package" | tr -c 'A-Za-z0-9.-' -)" \
            "$(dpkg-query -W -f '${Version}' "$package")"
        printf '"supplier": "Organization: Debian" }'
    done
    printf '\n ]\n}\n'
} >"$out/usr/share/doc/tavola/packages.spdx.json"

find "$out" -exec touch -h -d "@$epoch" {} +
