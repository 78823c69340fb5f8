# Sourced by the tests of commands: runs the program, keeps what it said, and counts in TAP.
#
# REDRIVE is the program, REDRIVE_TEST_PG a conninfo (key=value) of a PostgreSQL where databases and roles may be made. Nothing of the
# person who runs the tests is read: files, environment and terminal are those of the test.

# Parts that leave the shared database alone, and need nothing that another part has made.
APART="41_schemas 45_history 46_read_ahead 56_archive 57_people 57_policies 57_watch 58_alerts 58_daemon 59_import 59_notices 60_documents"

server=${REDRIVE_TEST_PG-}
ran= status= out= err=
count=0
failed=0
python=$(python3 -c 'import sys; print(sys.executable)') # without the detour of version managers

# ok NAME CONDITION…: the condition is a command.
ok()
{
    local name=$1
    shift
    count=$((count + 1))
    if "$@"; then
        echo "ok $count - $name"
        return
    fi
    failed=$((failed + 1))
    echo "not ok $count - $name"
    printf '#   ran: %s\n#   status: %s\n' "$ran" "$status"
    printf '%s\n' "$out" | head -n 12 | cat -v | sed 's/^/#   out: /'
    printf '%s\n' "$err" | head -n 12 | cat -v | sed 's/^/#   err: /'
}

skip()
{
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

# run ARGUMENT…: $out, $err, $status. Standard input is empty unless the caller redirects it.
run()
{
    ran="redrive $*"
    status=0
    "$REDRIVE" "$@" >"$work/out" 2>"$work/err" || status=$?
    out=$(tr -d '\0' <"$work/out")
    err=$(tr -d '\0' <"$work/err")
}

# at_terminal TYPED ARGUMENT…: the same at a pseudo-terminal; $out is all it wrote.
at_terminal()
{
    local typed=$1 line
    shift
    ran="at a terminal, typing $typed: redrive $*"
    printf -v line '%q ' "$REDRIVE" "$@"
    status=0
    printf '%s' "$typed" | timeout 60 script -qec "stty cols 100 rows 30; $line" /dev/null >"$work/out" 2>"$work/err" || status=$?
    out=$(tr -d '\0' <"$work/out")
    err=
}

# at_prompt WORDS TYPED ARGUMENT…: types only when WORDS have been asked.
at_prompt()
{
    local words=$1 typed=$2 line
    shift 2
    ran="at a terminal, typing $typed: redrive $*"
    printf -v line '%q ' "$REDRIVE" "$@"
    status=0
    : >"$work/out"
    {
        for _ in {1..200}; do
            ! grep -q "$words" "$work/out" || break
            sleep 0.05
        done
        printf '%s' "$typed"
    } | timeout 60 script -qfec "$line" "$work/out" >/dev/null 2>"$work/err" || status=$?
    out=$(tr -d '\0' <"$work/out")
    err=
}

exits() { [ "$status" = "$1" ]; }
says() { [[ $out == *"$1"* ]]; }
warns() { [[ $err == *"$1"* ]]; }
silent() { [ -z "$err" ]; }
not() { ! "$@"; }
all() # all COMMAND ; COMMAND ; …: every one of them holds
{
    local words=() word
    for word in "$@" ';'; do
        if [ "$word" = ';' ]; then
            [ ${#words[@]} -eq 0 ] || "${words[@]}" || return 1
            words=()
        else
            words+=("$word")
        fi
    done
}
lines() { [ "$(printf '%s' "$out" | grep -c '')" = "$1" ]; }
one_sentence() { [ "$(printf '%s' "$err" | grep -c '')" = 1 ] && [[ $err == redrive:* ]]; }

# names NAME…: every line is a JSON object that has exactly these members.
names()
{
    "$python" -S - "$work/out" "$@" <<'PY'
import json, sys
want = set(sys.argv[2:])
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
for row in rows:
    if set(row) != want:
        print("#   missing:", sorted(want - set(row)), "more:", sorted(set(row) - want))
        sys.exit(1)
sys.exit(0 if rows else 1)
PY
}

# operation_of: the number of the operation that the last command told about.
operation_of() { sed -n 's/.*"operation":\([0-9]*\).*/\1/p' "$work/out" | head -n 1; }

# json EXPRESSION: a Python expression over `rows`, the objects of the lines.
json()
{
    "$python" -S - "$work/out" "$1" <<'PY'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
if not eval(sys.argv[2]):
    print("#   not true:", sys.argv[2])
    sys.exit(1)
PY
}

sql() { psql -XAtq -v ON_ERROR_STOP=1 "$PG" -c "$1"; }
in_table() { [ "$(sql "$1")" = "$2" ]; }

begin()
{
    : "${REDRIVE:?the program to test}" "${REDRIVE_TEST_PG?a conninfo of a PostgreSQL for tests}"
    REDRIVE=$(realpath "$REDRIVE")
    work=$(mktemp -d "${TMPDIR:-/tmp}/redrive-commands.XXXXXX")
    database=redrive_commands_$$
    local name
    for name in "${!REDRIVE_@}"; do
        case $name in REDRIVE | REDRIVE_TEST_*) ;; *) unset "$name" ;; esac
    done
    unset NO_COLOR PGDATABASE PGSERVICE PGAPPNAME PGOPTIONS
    export HOME=$work XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/state TZ=UTC LC_ALL=C.UTF-8 TERM=xterm
    psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE $database ENCODING 'UTF8' TEMPLATE template0"
    PG="$server dbname=$database"
    trap end EXIT
    psql -Xq "$PG" -f "$here/table.sql"
}

end()
{
    psql -XAtq "$server dbname=postgres" -c "DROP DATABASE IF EXISTS $database WITH (FORCE)" >/dev/null 2>&1
    psql -XAtq "$server dbname=postgres" -c "DROP ROLE IF EXISTS redrive_poor_$$" -c "DROP ROLE IF EXISTS redrive_ana_$$" >/dev/null 2>&1
    rm -rf "$work"
}

# parts shared|apart: one after the other.
parts()
{
    local part name kind brokers=${REDRIVE_TEST_KAFKA-} topic_tool=${REDRIVE_TEST_BUILD-}/tests/tools/topic
    begin
    for part in "$here"/[0-9]*.sh; do
        name=$(basename "$part" .sh) kind=shared
        case " $APART " in *" $name "*) kind=apart ;; esac
        [ $kind = "$1" ] || continue
        echo "# ${part##*/}"
        ok "${part##*/} has no syntax error" bash -n "$part" # bash goes on behind the rest of a part that has one
        . "$part"
    done
    plan
}

plan()
{
    echo "1..$count"
    [ "$failed" = 0 ]
}
