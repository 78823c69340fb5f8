#!/usr/bin/env bash
# fuzz.sh BUILD SECONDS [NAME…]: lets libFuzzer work on each target for so long; ends with 1 on the first finding, which stays in
# tests/fuzz/corpus/NAME as a case for every later run.
set -eu
cd "$(dirname "$0")/../.."
build=$1 seconds=$2
shift 2
for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    name=${name#fuzz_}
    [ $# -eq 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
    corpus=tests/fuzz/corpus/$name
    mkdir -p "$corpus" "$build/corpus/$name"
    seeds=
    [ ! -d "tests/cases/$name" ] || seeds=tests/cases/$name
    echo "fuzz $name: $seconds s"
    # What it learns goes below the build folder; only findings enter the tree.
    "$build/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$corpus/" "$build/corpus/$name" "$corpus" $seeds 2>"$build/fuzz_$name.log" ||
        { tail -n 40 "$build/fuzz_$name.log"; exit 1; }
    grep -E 'number_of_executed_units|average_exec' "$build/fuzz_$name.log" | sed 's/^/  /'
done
