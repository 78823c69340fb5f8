# Sourced by tests/bench/run: how fast payloads are checked and formatted, one core, beside jansson and jq.

measure_json()
{
    local document bytes task ours floor jansson jansson_ratio jq jq_ratio
    echo "payloads checked and formatted, one core, MB/s; ratios to the time that jansson and jq take"
    "$BIN/bench/json" >"$RUN/json"
    sed 's/[a-z_]*=//g' "$RUN/json" | while read -r document bytes task ours jansson jansson_ratio jq jq_ratio; do
        floor=400
        [ "$task" = check ] || floor=200
        printf '  %-6s %7d bytes  %-6s %5d%s, jansson %3d' "$document" "$bytes" "$task" "$ours" "$([ "$ours" -ge $floor ] || echo "  BELOW $floor")" "$jansson"
        against "$bytes" "json_$task:$document:jansson" "$jansson_ratio"
        if [ -n "$jq" ]; then
            printf ', jq %3d' "$jq"
            against "$bytes" "json_$task:$document:jq" "$jq_ratio"
        fi
        echo
    done
}
