#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks of the sources that need no build. Says a line for each; the last one is
# "N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/.." || exit 1

passed=0 failed=0 skipped=0

# files NAME...: the sources with one of these names.
files() {
    for name in "$@"; do
        find . \( -name .git -o -path './build*' \) -prune -o -type f -name "$name" -print
    done | sort
}

# report NAME FOUND: what was found, if anything, is why the check fails.
report() {
    if [ -z "$2" ]; then
        echo "ok    $1"
        passed=$((passed + 1))
    else
        echo "FAIL  $1"
        printf '%s\n' "$2" | sed 's/^/      /'
        failed=$((failed + 1))
    fi
}

skip() {
    echo "skip  $1: $2"
    skipped=$((skipped + 1))
}

# Each major version of clang-format lays out some things in its own way: one is the reference.
check_format() {
    wanted=14
    for tool in "clang-format-$wanted" clang-format; do
        command -v "$tool" >/dev/null || continue
        have=$("$tool" --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
        [ "$have" = "$wanted" ] || continue
        report "clang-format" "$(files '*.c' '*.h' | xargs -r "$tool" --dry-run 2>&1 |
            sed -n 's/: warning: .*//p')"
        return
    done
    skip "clang-format" "version $wanted is the reference, ${have:-none} is here"
}

# A header that needs another one says so itself, and can be taken in twice.
check_headers() {
    report "headers stand alone" "$(files '*.h' | while IFS= read -r header; do
        printf '#include "%s"\n#include "%s"\nint unit;\n' "$header" "$header" |
            gcc -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Wall -Wextra -Werror -I. -Iinclude \
                -iquote "$(dirname "$header")" -fsyntax-only -x c - 2>&1
    done)"
}

check_text() {
    sources=$(files '*.c' '*.h' '*.py' '*.sh' '*.md' '*.build' '*.case' '*.js' run)
    report "no tabs" "$(printf '%s\n' "$sources" | xargs grep -n "$(printf '\t')")"
    report "no blanks at the end of a line" "$(printf '%s\n' "$sources" | xargs grep -nE ' +$')"
    report "a newline at the end of each file" "$(printf '%s\n' "$sources" | while IFS= read -r file; do
        [ -z "$(tail -c 1 "$file")" ] || echo "$file"
    done)"
    report "a licence line in each source" "$(files '*.c' '*.h' '*.py' '*.sh' run |
        xargs grep -L 'SPDX-License-Identifier: MIT')"
}

check_format
check_headers
check_text
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
