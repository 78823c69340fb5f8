# Sourced by tests/bench/run: how fast a recipe is tried, and how fast a shape learns; one core, in time of the processor.

measure_recipe()
{
    echo "the dry run of a recipe with three operations, beside a check of the same payloads alone"
    "$BIN/bench/recipe" >"$RUN/recipe"
    sed 's/^/  /' "$RUN/recipe"
}

measure_shape()
{
    echo "shapes learned, departures and named places found, texts compared"
    "$BIN/bench/shape" >"$RUN/shape"
    sed 's/^/  /' "$RUN/shape"
}
