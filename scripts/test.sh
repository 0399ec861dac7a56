#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what is missing, builds with gcc, clang and the sanitizers, and runs all tests and
# checks. The last line is "N passed, N failed, N skipped"; the exit status is 0 if none failed.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

passed=0 failed=0 skipped=0

# count PASSED FAILED SKIPPED; without numbers, what should have told them failed.
count() {
    [ $# -eq 3 ] || set -- 0 1 0
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

step() {
    printf '\n== %s\n' "$*"
}

# build DIR COMPILER SETUP-ARGUMENT...: one case, passed when all compiles without a warning.
build() {
    dir=$1 compiler=$2
    shift 2
    step "Build $dir"
    [ -f "$dir/build.ninja" ] || {
        rm -rf "$dir"
        CC=$compiler meson setup "$dir" --werror -Dtests=enabled "$@" >"$log" 2>&1 || {
            cat "$log"
            count 0 1 0
            return 1
        }
    }
    if ninja -C "$dir" >"$log" 2>&1; then
        echo "ok"
        count 1 0 0
    else
        grep -v '^\[' "$log"
        count 0 1 0
        return 1
    fi
}

# run_tests DIR: the tests of a build; each case counts.
run_tests() {
    step "Tests of $1"
    rm -f "$1/meson-logs/testlog.json"
    meson test -C "$1" --no-rebuild --print-errorlogs </dev/null
    # shellcheck disable=SC2046 # three numbers
    count $(python3 tests/lib/tally.py "$1/meson-logs/testlog.json" 2>"$log")
    cat "$log"
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

step "Install what is missing"
scripts/install-deps.sh test || {
    echo "FAIL: not all that is needed is there"
    count 0 1 0
}
use_perf || echo "No perf that works here: tests that need it are skipped"

build build-gcc gcc && run_tests build-gcc
build build-clang clang
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}"
build build-asan gcc -Db_sanitize=address,undefined && run_tests build-asan

step "Checks of the sources"
scripts/check.sh >"$log" 2>&1
cat "$log"
# shellcheck disable=SC2046 # three numbers
count $(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$log")

printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
