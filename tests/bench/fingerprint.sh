# Sourced by tests/bench/run: how well group keys match causes, and how fast they are made.

measure_fingerprint()
{
    echo "group keys of tests/cases/fingerprint, one core"
    (cd tests/cases/fingerprint && "$BIN/bench/fingerprint_score" *.forms)
}
