# Every command that a document shows. A command in a block is run, in the order of the document, on a database and a broker of the test.
# Commands that change the machine (apt-get, useradd, systemctl, cp to /etc) are replaced by programs that check their arguments.
# A command in the text is run too, unless it has placeholders: then its name and options must exist.

documents=(README.md CONTRIBUTING.md themes/README.md keymaps/README.md mappings/README.md tests/README.md src/store/sql/README.md)
root=$(cd "$here/../.." && pwd)

# blocks FILE: "block COMMAND" for each command in a block of code, "text COMMAND" for each in the text, in their order.
commands_of()
{
    awk '
        function command(line) { return line ~ /^([A-Z_]+=[^ ]* +)*(redrive|make|man|psql|apt-get|useradd|cp|eval|tests\/[a-z_\/]+|build\/[a-z_\/]+)( |$)/ }
        /^```/ { fenced = !fenced; next }
        fenced || /^    [^ ]/ {
            line = $0
            sub(/^ +/, "", line)
            sub(/  +#.*$/, "", line)
            if (command(line)) print "block " line
            next
        }
        {
            rest = $0
            while (match(rest, /`[^`]+`/)) {
                span = substr(rest, RSTART + 1, RLENGTH - 2)
                rest = substr(rest, RSTART + RLENGTH)
                if (command(span) && span ~ / / || span == "redrive") print "text " span
            }
        }' "$1"
}

# The commands of a document see these instead of the real ones.
doubles=$work/doubles
stage=$work/stage
mkdir -p "$doubles" "$stage" "$work/config/redrive"
double()
{
    cat >"$doubles/$1"
    chmod +x "$doubles/$1"
}
double redrive <<DOUBLE
#!/bin/bash
args=("\${@/kafka1:9092/${REDRIVE_TEST_KAFKA:-127.0.0.1:1}}")
if [ -z "\$(printf '%s\n' "\${args[@]}" | grep -vE '^(-.*|service=.*|[^ ]*:[0-9]+)?$')" ] && ! printf '%s\n' "\${args[@]}" | grep -qE -- '^--(help|version|dump-keymap|generate)'; then
    # The screen: opened at a terminal, and left.
    printf -v line '%q ' "$REDRIVE" "\${args[@]}"
    { sleep 1; printf 'q'; sleep 1; printf 'q'; } | TERM=xterm timeout 60 script -qec "stty cols 80 rows 24; \$line" /dev/null
    exit
fi
case "\${args[*]}" in
*reprocess* | *resolve* | *discard*) args+=(--detach --yes) ;; # nobody is asked, and nothing is waited for
esac
exec "$REDRIVE" "\${args[@]}"
DOUBLE
double make <<DOUBLE
#!/bin/bash
cd "$root" && exec $(command -v make) -n "\$@" >/dev/null
DOUBLE
double man <<DOUBLE
#!/bin/bash
"$REDRIVE" --generate "\$1" >"$work/page" && LC_ALL=C.UTF-8 $(command -v man) --warnings -E UTF-8 -l "$work/page" 2>&1 >/dev/null | { ! grep .; }
DOUBLE
double apt-get <<'DOUBLE'
#!/bin/bash
[ "$1" = update ] || [ "$1" = install ]
DOUBLE
double sudo <<'DOUBLE'
#!/bin/bash
exec "$@"
DOUBLE
double useradd <<'DOUBLE'
#!/bin/bash
[ "$*" = "--system redrive" ]
DOUBLE
double systemctl <<'DOUBLE'
#!/bin/bash
[ "$*" = "enable --now redrive" ]
DOUBLE
double cp <<DOUBLE
#!/bin/bash
[ -f "$stage\$1" ] && [ "\$2" = /etc/systemd/system ]
DOUBLE

# A number of an operation, a group and so on stands for any; the command and its options must be real.
is_form() { [[ $1 =~ [A-Z]{2,}|\|.*\||[a-z]\|[a-z]|…|\ N( |$)|\.\.\. ]]; }
form_exists()
{
    local words option name=
    read -ra words <<<"$1"
    name=${words[1]:-}
    [[ $name =~ ^[a-z]+$ ]] && "$REDRIVE" "$name" --help >"$work/help" 2>&1 || "$REDRIVE" --help >"$work/help" 2>&1 || return 1
    for option in "${words[@]}"; do
        [[ $option != --* ]] || grep -q -- "${option%%[=|]*}" "$work/help" || return 1
    done
}

psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE orders_$$ TEMPLATE template0 ENCODING 'UTF8'"
psql -Xq "$server dbname=orders_$$" -f "$here/table.sql"
psql -Xq "$server dbname=orders_$$" -c "INSERT INTO dlq_events (id, event_id, event_type, event_payload, error_message, kafka_topic)
    SELECT i, 'placed-' || i, 'OrderPlaced', '{\"lines\": [{\"amount\": \"17,90\"}]}', 'Cannot deserialize value of type \`BigDecimal\` from \"17,90\"', 'placed'
      FROM generate_series(4711, 4712) i"
printf 'to-number $.lines[*].amount\n' >"$work/amounts.recipe"
psql -XAtq "$server dbname=postgres" -c "DROP ROLE IF EXISTS redrive" -c "DROP ROLE IF EXISTS ana" -c "CREATE ROLE ana" 2>/dev/null
"$python" -S - "$server dbname=orders_$$" >"$work/services" <<'PY'
import shlex, sys
words = dict(word.split("=", 1) for word in shlex.split(sys.argv[1]))
print("[orders]", *("=".join(item) for item in words.items()), sep="\n")
PY
printf 'service = "orders"\nbrokers = "%s"\nstart_worker = off\n' "${REDRIVE_TEST_KAFKA:-127.0.0.1:1}" >"$work/config/redrive/config"
export PGSERVICEFILE=$work/services
make -s -C "$root" install DESTDIR="$stage" >/dev/null 2>&1
ran="make install" status=$? out= err=
ok "make install, for the paths that documents show" exits 0
"$REDRIVE" migrate -d "$server dbname=orders_$$" --quiet >/dev/null 2>&1
key=$("$REDRIVE" groups -d "$server dbname=orders_$$" --json 2>/dev/null | sed -n '1s/.*"group":"\([0-9a-f]*\)".*/\1/p')

# run_shown COMMAND: as a reader would, from the root of the repository.
run_shown()
{
    local line=${1//8f3a/${key:0:8}}
    line=${line//\/tmp\/pg/$work/pg}
    line=${line//\/tmp\/kafka/$work/kafka}
    line=${line//amounts.recipe/$work/amounts.recipe}
    ran=$1
    status=0
    (cd "$root" && PATH=$doubles:$PATH timeout 120 bash -c "$line") >"$work/out" 2>"$work/err" </dev/null || status=$?
    out=$(tr -d '\0' <"$work/out")
    err=$(tr -d '\0' <"$work/err")
}

for document in "${documents[@]}"; do
    [ -f "$root/$document" ] || continue
    while read -r kind shown; do
        if [ "$kind" = text ] && is_form "$shown"; then
            ran=$shown status= out= err=
            case $shown in
            redrive*) ok "$document: $shown" form_exists "$shown" ;;
            esac
            continue
        fi
        case $shown in
        build/asan/*) # built for the layers of the test run; here it must be something that make can build
            run_shown "make VARIANT=asan $shown"
            ;;
        *) run_shown "$shown" ;;
        esac
        case $shown in
        # What the cluster of the test lacks is no fault of the document; neither is an operation in another state.
        *doctor* | *resume* | *approve*) ok "$document: $shown" not exits 2 ;;
        *) ok "$document: $shown" exits 0 ;;
        esac
    done < <(commands_of "$root/$document")
done
# Whoever starts a thread adds its row to the table of threads.
document=src/async/README.md ran="thread names of src" status= out= err=
threads=$(sed -n '/^## Threads/,/^## Queues/p' "$root/$document" | cut -d'|' -f2)
started='(thread_start|pool_create|lane_create)\([^"]*"[a-z]+"'
for name in $(grep -rhozE "$started" "$root/src" "$root/ui" --include='*.c' | tr '\0' '\n' | grep -oE '"[a-z]+"' | tr -d '"' | sort -u); do
    ok "the table of threads has $name" grep -qw -- "$name" <<<"$threads"
done
psql -XAtq "$server dbname=postgres" -c "DROP DATABASE IF EXISTS orders_$$ WITH (FORCE)" >/dev/null 2>&1
unset PGSERVICEFILE
rm -f "$work/config/redrive/config"
