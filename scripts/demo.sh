#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what is missing, builds jitinject and shows what it does to a profile of a small Node
# program that is kept in tests/fixtures/node-app. Writes to build-demo/ only.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

say() {
    printf '\n\033[1m%s\033[0m\n' "$*"
}
[ -t 1 ] || say() {
    printf '\n%s\n' "$*"
}

# Runs a command, showing it first.
show() {
    printf '$ %s\n' "$*"
    "$@"
}

# perf's tables without their headings, indented and cut to a screen.
table() {
    grep -v -e '^#' -e '^ *$' | head -n "$1" | cut -c 1-100
}

# shares FILE KEYS: where the time went, without call chains.
shares() {
    perf report -i "$1" --stdio --stdio-color never --no-children --no-inline -g none -s "$2" 2>/dev/null
}

build() {
    log=$(mktemp)
    [ -f build-demo/build.ninja ] || rm -rf build-demo
    if { [ -d build-demo ] || meson setup build-demo --buildtype=release -Dtests=disabled; } \
        >"$log" 2>&1 && ninja -C build-demo >>"$log" 2>&1; then
        rm -f "$log"
    else
        cat "$log" >&2
        rm -f "$log"
        exit 1
    fi
}

scripts/install-deps.sh demo
say "Building jitinject"
build
PATH=$root/build-demo:$PATH
jitinject --version

work=build-demo/profile
rm -rf "$work"
cp -r tests/fixtures/node-app "$work"
cd "$work"

say "A recorded profile of a Node program"
echo "perf record -k mono -g -e cpu-clock:u -o perf.data node --perf-prof app.js left these files:"
ls -sh1 -- *.data *.dump *.js

have_perf=yes
use_perf || have_perf=
if [ "$have_perf" ]; then
    say "Before: perf sees addresses where JIT code ran"
    shares perf.data dso,sym | table 6
fi

say "Injecting"
show jitinject -i perf.data -o perf.jit.data
echo "written:"
ls -sh1 -- perf.jit.data *.so

if [ -z "$have_perf" ]; then
    say "There is no perf that works here, so its reports cannot be shown"
    echo "With perf installed (Debian: linux-perf, Ubuntu: linux-tools-generic):"
    echo "  perf report -i $root/$work/perf.jit.data"
    exit 0
fi

say "After: the same samples, by function"
shares perf.jit.data dso,sym | table 6

hottest=$(shares perf.jit.data sym | table 1 | sed 's/.*\] //')
# The first part is the hottest version of the function, where the compiler made several.
perf annotate -l -i perf.jit.data --stdio --stdio-color never -s "$hottest" 2>/dev/null |
    awk '/^Sorted summary/ && ++part > 1 { exit } { print }' >annotated

say "By source line, in $hottest"
sed -n -e '/^ *Percent |/q' -e 's/^ *\([0-9.]*\) .*app\.js:\([0-9]*\)$/\1 \2/p' annotated | head -n 4 |
    while read -r percent line; do
        printf '%10s%%  app.js:%-4s %s\n' "$percent" "$line" "$(sed -n "${line}p" app.js)"
    done

say "By instruction"
grep -E '^ *[0-9.]+ : *[0-9a-f]+:' annotated | sed 's/ <.*//' | sort -rn | table 6

say "To look around by yourself"
echo "perf report -i $work/perf.jit.data"
