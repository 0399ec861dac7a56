# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Sourced by the scripts beside it.

# Prints the path of a perf that works. On Ubuntu the one on PATH is a wrapper that looks for the
# running kernel's own package, and says no where another kernel's would do as well.
find_perf() {
    for perf in perf /usr/lib/linux-tools/*/perf /usr/lib/linux-tools-*/perf; do
        if "$perf" --version >/dev/null 2>&1; then
            command -v "$perf"
            return 0
        fi
    done
    return 1
}

# Puts that perf on PATH for everything that follows; fails where there is none.
use_perf() {
    perf=$(find_perf) || return 1
    PATH=$(dirname "$perf"):$PATH
    export PATH
}
