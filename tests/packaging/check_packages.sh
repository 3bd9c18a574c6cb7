#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The Debian packages hold what they should, their programs start, and systemd takes their units.
#
# usage: check_packages.sh ROOT BUILD_FOLDER
set -eu
cd "$1"
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

sh packaging/make_packages.sh "$build" "$work/packages"
version=$("$build/bin/tavola" --version | awk '{ print $NF }')
for part in server:tavolad worker:tavola-worker client:tavola; do
    package=tavola-${part%%:*}
    program=${part#*:}
    file=$(echo "$work/packages/$package"_"$version"_*.deb)
    [ -f "$file" ] || fail "there is no $file"
    dpkg-deb -x "$file" "$work/root"
    [ "$("$work/root/usr/bin/$program" --version | awk '{ print $NF }')" = "$version" ] || fail "$program has another version"
    [ -f "$work/root/usr/share/doc/$package/copyright" ] || fail "$package has no licence"
    manual=$(echo "$work/root/usr/share/man/man"[18]"/$program."[18])
    [ -f "$manual" ] || fail "$package has no manual page of $program"
    if command -v man >/dev/null 2>&1; then
        man --warnings -E UTF-8 -l "$manual" >/dev/null 2>"$work/manual" || fail "man refuses $manual"
        [ ! -s "$work/manual" ] || fail "$manual: $(cat "$work/manual")"
    fi
    grep -q "Tavola\|tavola" "$manual" || fail "$manual is empty"
    dpkg-deb -f "$file" Depends | grep -q 'libc6 (>= ' || fail "$package does not name the libraries it needs"
    [ "$part" != client:tavola ] || continue
    dpkg-deb -e "$file" "$work/control-$package"
    sh -n "$work/control-$package/postinst"
    sh -n "$work/control-$package/prerm"
    [ "$(cat "$work/control-$package/conffiles")" = "/etc/default/$package" ] || fail "settings of $package would be overwritten"
    # Every setting of the default file, those behind a # too, is one that the program knows and takes.
    sed -n 's/^#*\(TAVOLA_[A-Z_]*\)=.*/\1/p' "$work/root/etc/default/$package" >"$work/set"
    "$work/root/usr/bin/$program" --print-settings >"$work/known"
    unknown=$(grep -vxFf "$work/known" "$work/set" || :)
    [ -z "$unknown" ] || fail "$package sets what $program does not know: $unknown"
    (
        set -a
        # shellcheck disable=SC1090 # a file of settings
        . "$work/root/etc/default/$package"
        "$work/root/usr/bin/$program" --print-config >/dev/null
    ) || fail "$program refuses the settings of its package"
    unit=$work/root/lib/systemd/system/$package.service
    grep -q "^ExecStart=/usr/bin/$program\$" "$unit" || fail "$package.service does not start $program"
    if command -v systemd-analyze >/dev/null 2>&1; then
        sed "s|^ExecStart=/usr/bin/|ExecStart=$work/root/usr/bin/|; s|^User=.*||; s|^Group=.*||; /^Documentation=/d" "$unit" >"$work/$package.service"
        systemd-analyze verify "$work/$package.service" >"$work/verified" 2>&1 || fail "$package.service: $(cat "$work/verified")"
        ! grep -F "$package.service" "$work/verified" || fail "systemd has objections to $package.service"
    fi
done

for completion in bash-completion/completions/tavola zsh/site-functions/_tavola fish/vendor_completions.d/tavola.fish; do
    [ -s "$work/root/usr/share/$completion" ] || fail "tavola-client has no completion $completion"
done
bash -n "$work/root/usr/share/bash-completion/completions/tavola"

file=$(echo "$work/packages/libtavola-dev_$version"_*.deb)
[ -f "$file" ] || fail "there is no $file"
dpkg-deb -c "$file" >"$work/files"
for wanted in include/tavola.h pkgconfig/tavola.pc cmake/tavola/tavola-config.cmake libtavola.a 'libtavola.so ->'; do
    grep -q "$wanted" "$work/files" || fail "libtavola-dev has no $wanted"
done
! grep -q ' ./usr/bin/.' "$work/files" || fail "libtavola-dev has programs"
