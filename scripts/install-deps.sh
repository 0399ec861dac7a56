#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what is missing on Debian or Ubuntu, as root or with sudo, without questions:
#   scripts/install-deps.sh demo    to build jitinject and show it on a recorded profile
#   scripts/install-deps.sh test    that, and all that the tests use
set -eu
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

level=${1:-}
case $level in
demo | test) ;;
*)
    sed -n '3,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac

have_command() {
    command -v "$1" >/dev/null 2>&1
}

# Whether the library is there for a compiler, from a package or otherwise.
have_library() {
    have_command pkg-config && pkg-config --exists "$1"
}

have_file() {
    [ -e "$1" ]
}

# What cannot be done without, and what only some tests need.
required=
optional=
need() {
    required="$required $*"
}
want() {
    optional="$optional $*"
}

collect_build_needs() {
    have_command gcc || need gcc
    [ -e /usr/include/stdio.h ] || need libc6-dev
    have_command meson || need meson
    have_command ninja || need ninja-build
    have_command pkg-config || need pkg-config
    have_library libelf || need libelf-dev
    have_library zlib || need zlib1g-dev
    have_library libzstd || need libzstd-dev
    have_library libxxhash || need libxxhash-dev
    have_command objdump || need binutils # perf annotate calls it
    find_perf >/dev/null || want perf
}

collect_test_needs() {
    have_library cmocka || need libcmocka-dev
    have_command clang || need clang
    have_command python3 || need python3
    have_command git || need git
    have_command eu-elflint || need elfutils
    have_command gdb || need gdb-minimal
    have_command llvm-dwarfdump || need llvm
    have_command clang-format || want clang-format
    have_command valgrind || want valgrind
    have_command gnuplot || want gnuplot-nox
    have_command node || want nodejs
    have_command php || want php-cli
    # Its package starts a server, unless a policy says no, as in containers.
    have_file /usr/sbin/php-fpm[0-9]* || ! have_file /usr/sbin/policy-rc.d || want php-fpm
    have_command erl || want erlang-base
    have_command lli || want llvm-runtime
    have_command jsc || have_file /usr/lib/*/webkit2gtk-4.*/jsc || want jsc
}

# Debian has one package; Ubuntu has one for each kernel, and a container need not have its own.
perf_package() {
    if apt-cache show linux-perf >/dev/null 2>&1; then
        echo linux-perf
    elif apt-cache show "linux-tools-$(uname -r)" >/dev/null 2>&1; then
        echo "linux-tools-$(uname -r)"
    else
        echo linux-tools-generic
    fi
}

# Named after the version of GTK that it is for, until there is one for all.
jsc_package() {
    if apt-cache show libjavascriptcoregtk-bin 2>/dev/null | grep -q '^Version'; then
        echo libjavascriptcoregtk-bin
    else
        echo libjavascriptcoregtk-4.0-bin
    fi
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

apt_install() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" \
        </dev/null >"$log" 2>&1
}

# The package lists of a fresh machine are empty or old: renewed before the first use.
updated=
apt_update() {
    [ -z "$updated" ] || return 0
    updated=yes
    as_root apt-get update -q </dev/null >"$log" 2>&1 || cat "$log" >&2
}

can_install() {
    [ "$(id -u)" -eq 0 ] || have_command sudo || {
        echo "install-deps: this is missing, and can be installed as root or with sudo only: $*" >&2
        return 1
    }
}

install_required() {
    [ -n "$required" ] || return 0
    can_install "$required" || exit 1
    apt_update
    echo "Installing:$required"
    # shellcheck disable=SC2086 # a list of words
    apt_install $required || {
        tail -n 20 "$log" >&2
        echo "install-deps: apt-get could not install:$required" >&2
        exit 1
    }
}

# One by one, for one that is not to be had must not keep out the others.
install_optional() {
    for package in $optional; do
        can_install "$package" || continue
        apt_update
        case $package in
        perf) package=$(perf_package) ;;
        jsc) package=$(jsc_package) ;;
        esac
        echo "Installing: $package"
        apt_install "$package" || echo "Not to be had here: $package (what needs it is skipped)"
    done
}

have_command apt-get || {
    echo "install-deps: no apt-get here; see README.md for what has to be installed" >&2
    exit 0
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

collect_build_needs
[ "$level" = demo ] || collect_test_needs
install_required
install_optional

# The PHP JIT is in a package that carries the version of PHP, and is built in from 8.5 on.
if [ "$level" = test ] && have_command php && ! php -m 2>/dev/null | grep -qi opcache; then
    optional="php$(php -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')-opcache"
    install_optional
fi
