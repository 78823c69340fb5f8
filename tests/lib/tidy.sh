#!/usr/bin/env bash
# tidy.sh FILE DEPENDENCIES FLAG…: clang-tidy over a file; DEPENDENCIES is what the compiler wrote of it with -MMD.
#
# The analyzer takes seconds for a file and its verdict depends on nothing else than what it reads. So a file in which nothing was found is
# remembered in the cache, by the checks, the flags, its text with that of our headers (comments switch checks off) and what the
# preprocessor makes of it (which has the system's headers). A clean checkout with REDRIVE_CACHE looks only at what is new to it.
set -eu -o pipefail
. "$(dirname "$0")/common.sh"
cd "$ROOT"
file=$1 dependencies=$2
shift 2

key=$({
    clang-tidy --version
    cat .clang-tidy
    printf '%s\n' "$file" "$@"
    sed -e 's/^[^:]*://' -e 's/\\$//' "$dependencies" | tr ' ' '\n' | sed '/^$/d' | sort -u | xargs tail -n +1
    clang -E "$@" "$file"
} 2>/dev/null | sha256sum | cut -c 1-64) || fail "$file: what clang-tidy would read cannot be read"
if [ -e "$CACHE/tidy/$key" ]; then
    touch "$CACHE/tidy/$key" # make lint drops what is not asked for any more
    exit
fi
said=$(mktemp)
trap 'rm -f "$said" "$said.err"' EXIT
if ! clang-tidy --quiet --warnings-as-errors='*' "$file" -- "$@" -Wno-everything >"$said" 2>"$said.err"; then
    cat "$said"
    grep -v 'warnings\? generated' "$said.err"
    exit 1
fi
mkdir -p "$CACHE/tidy"
: >"$CACHE/tidy/$key"
