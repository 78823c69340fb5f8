# What needs no database: words, options, help, settings, keys, fingerprints.

run --version
ok "--version" all exits 0 ';' says "redrive "
run --help
ok "--help lists the commands" all exits 0 ';' says reprocess ';' says "Exit status" ';' says "6 stopped" ';' silent
run discard --help
ok "--help of a command lists its options" all exits 0 ';' says --dry-run ';' not says --rate
run reprocess --help
ok "--help of reprocess knows the rate" says --rate
for page in redrive bash zsh fish; do
    run --generate "$page"
    ok "--generate $page names every command" all exits 0 ';' says fingerprint ';' says indexes
done
for page in redrive redrive-config redrive-filter redrive-operations; do
    run --generate "$page"
    LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l "$work/out" >"$work/page" 2>"$work/err"
    err=$(<"$work/err")
    ok "man $page has no warning, and no table that was not filled in" all exits 0 ';' silent ';' eval '! grep -qE "@[A-Z]+@" "$work/page"'
    ok "man $page: a question ends without a full stop" eval '! grep -qF "?." "$work/page"'
done
run --generate redrive-config
ok "redrive-config(5) names every setting with its built-in value" all says filter_cache ';' says 256MB
run --generate redrive-filter
ok "redrive-filter(7) names every field" all says 'retries' ';' says 'resolved\-by'
run --generate redrive-operations
ok "redrive-operations(7) shows a service that is started again" all says 'Restart=always' ';' says RestartPreventExitStatus ';' says 'share/redrive/redrive'
ok "and the whole language of recipes" all says '.TP
\fBto\-number\fR \fIPATH\fR
make a number of text' ';' says '\fBset\fR \fIPATH JSON\fR' ';' says '\fBjq\fR \fIPROGRAM\fR' ';' not says '@RECIPE@'
run --generate bash
ok "the bash completion is a script" all bash -n "$work/out" ';' says "pause resume cancel approve rate ramp settle-for halt-above wait decide published again" ';' says "' category rules"

# What is installed was built with the Makefile; nothing is built for this.
installs()
{
    ran="make $1"
    (unset MAKEFLAGS MAKELEVEL MFLAGS; cd "$here/../.." && make -s -o build/redrive "$1" DESTDIR="$work/root" PREFIX=/usr) >"$work/out" 2>"$work/err"
    status=$?
    out=$(find "$work/root" -type f | sed "s|$work/root||" | sort)
    err=$(cat "$work/err")
}
if [ -x "$here/../../build/redrive" ]; then
    installs install
    ok "make install: the program, its manual pages, completions, themes, keymaps, the unit" all exits 0 ';' says /usr/bin/redrive ';' \
        says /usr/share/man/man1/redrive.1 ';' says /usr/share/man/man5/redrive-config.5 ';' says /usr/share/man/man7/redrive-filter.7 ';' \
        says /usr/share/man/man7/redrive-operations.7 ';' says /usr/share/bash-completion/completions/redrive ';' says /usr/share/zsh/site-functions/_redrive ';' \
        says /usr/share/fish/vendor_completions.d/redrive.fish ';' says /usr/share/redrive/themes/light.theme ';' \
        says /usr/share/redrive/keymaps/default.keymap ';' grep -q '/usr/bin/redrive daemon' "$work/root/usr/share/redrive/redrive.service" ';' \
        grep -q /usr/bin/redrive "$work/root/usr/share/redrive/redrive-work.service" ';' \
        grep -q '/usr/bin/redrive watch' "$work/root/usr/share/redrive/redrive-watch.service" ';' \
        grep -q '/usr/bin/redrive ingest' "$work/root/usr/share/redrive/redrive-ingest.service" ';' says /usr/share/redrive/monitoring/rules.yml ';' \
        grep -q "^.TH REDRIVE 1" "$work/root/usr/share/man/man1/redrive.1"
    installs uninstall
    ok "make uninstall takes all of it away" all exits 0 ';' [ -z "$out" ]
else
    skip "make install" "build/redrive is not built: make"
fi

run filter --help
ok "the fields of a filter, with a sentence each" all exits 0 ';' says "retries:      the retry count" ';' says '$.path'
run --generate html
ok "--generate of something else" all exits 2 ';' one_sentence

run grups
ok "an unknown command suggests" all exits 2 ';' one_sentence ';' warns "did you mean redrive groups"
run $'gro\033]0;owned\007'
ok "an error tells a word that is hostile without letting it work" all exits 2 ';' one_sentence ';' not warns $'\033' ';' not warns $'\007' ';' warns '\e]0;owned\x07'
run groups --fliter x
ok "an unknown option suggests" all exits 2 ';' one_sentence ';' warns "did you mean --filter"
run groups --rate 5
ok "an option of another command is refused" all exits 2 ';' one_sentence ';' warns "no option --rate"
run reprocess --canary 5
ok "a change of nothing that was chosen is refused" all exits 2 ';' one_sentence ';' warns "needs a choice of events"
run groups --filter
ok "a missing value" all exits 2 ';' one_sentence ';' warns "needs a value"
run groups --json=yes
ok "a value too many" all exits 2 ';' one_sentence
run events --limit many
ok "a number that is none" all exits 2 ';' one_sentence
run events --id none
ok "an id that is none" all exits 2 ';' one_sentence
run groups surplus
ok "an argument too many" all exits 2 ';' one_sentence
run show
ok "an argument too few" all exits 2 ';' one_sentence
run -d 'host=x password=hunter2' groups
ok "a password in argv is refused and not repeated" all exits 2 ';' one_sentence ';' not warns hunter2
run -d 'postgresql://ana:hunter2@x/db' groups
ok "a password in a URI is refused and not repeated" all exits 2 ';' one_sentence ';' not warns hunter2
run -X sasl.password=hunter2 config
ok "a Kafka secret in argv is refused and not repeated" all exits 2 ';' one_sentence ';' not warns hunter2
run -X plugin.library.paths=/tmp/x.so config
ok "a Kafka property that loads code is refused" all exits 2 ';' one_sentence

run -d "host=/nowhere" groups
ok "PostgreSQL that is not there" all exits 3 ';' one_sentence

# Settings.
mkdir -p "$XDG_CONFIG_HOME/redrive"
config=$XDG_CONFIG_HOME/redrive/config
cat >"$config" <<'CONFIG'
# one comment, so that lines are counted behind it
confirm-above = 50
kafka { security.protocol = plaintext
    sasl.password = "hidden" }
profile "prod" {
    label = "PROD"   # a label
    protect = count
}
CONFIG
run config --json
ok "a secret that everybody may read is refused" all exits 2 ';' warns "everybody may read this file"
chmod o= "$config"
run config --json
ok "config names and places" all exits 0 ';' names setting value from ';' \
    json '[r for r in rows if r["setting"] == "confirm_above"][0]["value"] == "50"' ';' \
    json '[r for r in rows if r["setting"] == "confirm_above"][0]["from"].endswith("config:2")'
ok "config hides secrets" not says '"value":"hidden"'
run config --json -P prod
ok "a profile wins" all json '[r for r in rows if r["setting"] == "label"][0]["value"] == "PROD"' ';' \
    json '[r for r in rows if r["setting"] == "label"][0]["from"].endswith("config:6")'
REDRIVE_LABEL=STAGE run config --json -P prod
ok "the environment wins over the profile" json '[r for r in rows if r["setting"] == "label"][0] == {"setting":"label","value":"STAGE","from":"REDRIVE_LABEL"}'
REDRIVE_TABLE=a.b run config --json --table c.d
ok "an option wins over the environment" json '[r for r in rows if r["setting"] == "table"][0] == {"setting":"table","value":"c.d","from":"--table"}'
REDRIVE_LABEL=STAGE run profiles
ok "profiles are listed" all exits 0 ';' says prod ';' says count ';' says config:6
run profiles --json -P prod
ok "the chosen profile is told" all exits 0 ';' json 'rows[0]["profile"] == "prod" and rows[0]["is_chosen"] and rows[0]["label"] == "PROD"'
run config -P prd
ok "an unknown profile suggests" all exits 2 ';' one_sentence ';' warns "did you mean prod"
run config --check
ok "config --check of a right file" exits 0
echo 'tabel = x' >>"$config"
run config --check
ok "config --check names file and line" all exits 2 ';' warns "config:9" ';' warns "did you mean table"
printf 'confirm_above = many\n' >"$config"
run groups
ok "a bad value names file and line" all exits 2 ';' one_sentence ';' warns "config:1"
printf 'kafka { linger.ms = 5 }\n' >"$config"
chmod g+w "$config"
run config
ok "Kafka properties of a file that others can write are refused" all exits 2 ';' warns "chmod"
rm "$config"
REDRIVE_CONFIG=/nowhere/config run config
ok "a named file that is not there" all exits 2 ';' one_sentence
REDRIVE_THEME=nosuch run config --check
ok "config --check reads the theme and the keymap too" all exits 2 ';' one_sentence ';' warns nosuch
run info --json
ok "info" all exits 0 ';' names what where

run keys
ok "keys" all exits 0 ';' says reprocess
# The file that each README shows as an example can be read. 60_documents.sh runs the commands.
for readme in keymaps/README.md themes/README.md; do
    what=${readme%s/*}
    sed -n '/^```$/,/^```$/p' "$here/../../$readme" | sed '/^```$/d' >"$work/example.$what"
    run "--$what" "$work/example.$what" "$([ "$what" = keymap ] && echo keys || echo themes)"
    ok "$readme: its example can be read" exits 0
done

run themes
ok "themes" all exits 0 ';' says mono
ok "themes: what others include is no theme" eval '! grep -q "^roles " "$work/out"'
run keys --json
ok "keys --json" all exits 0 ';' names context action keys help ';' json 'any(r["context"] == "global" and r["action"] == "quit" and "Q" in r["keys"] for r in rows)'
run themes --json
ok "themes --json" all exits 0 ';' names theme from in_force ';' json 'sum(r["in_force"] for r in rows) == 1 and any(r["theme"] == "mono" for r in rows)'
run keys --keymap nosuchmap
ok "an unknown keymap" all not exits 0 ';' one_sentence

# Fingerprints.
run fingerprint <<<$'connect to pay-3:443 timed out after 3000 ms\nconnect to pay-8:443 timed out after 12 ms\n\nother'
ok "one key a line, 16 digits" all exits 0 ';' lines 4 ';' eval '! grep -qvxE "[0-9a-f]{16}" "$work/out"'
ok "what differs in volatile text only has one key" eval '[ "$(sed -n 1p "$work/out")" = "$(sed -n 2p "$work/out")" ]'
same=$(sed -n 1p "$work/out")
run fingerprint --record <<<'{"x": [1, {"error_message": "no"}], "error_message": "connect to pay-3:443 timed out after 3000 \u006ds", "stack_trace": null}'
ok "a record is read as its message" all exits 0 ';' says "$same"
run fingerprint --record <<<$'{"error_message": "a"}\n{"error_message": "a"'
ok "a broken record names its line" all exits 2 ';' lines 1 ';' warns "line 2"
run fingerprint --explain <<<'connect to pay-3:443 timed out after 3000 ms'
ok "a key explains itself" all exits 0 ';' says "$same" ';' says pattern
for cause in 'age is wrong' 'no such employee' 'tax number is not valid' 'no answer in time' 'date is too early'; do
    printf '{"error_message": "%s", "stack_trace": "com.acme.Sent: away\\n\\tat com.acme.Dlq.send(Dlq.java:1)"}\n' "$cause"
done >"$work/in"
run fingerprint --record <"$work/in"
ok "one stack beside many messages is one group" all exits 0 ';' eval '[ "$(sort -u "$work/out" | wc -l)" = 1 ]'
run fingerprint --record --writers <"$work/in"
ok "whose stack it is can be learned" all exits 0 ';' says 'writer = { "com.acme.Dlq.send" }' ';' says '5 events, 5 different messages'
cp "$work/out" "$work/rules"
run fingerprint --record --rules "$work/rules" <"$work/in"
ok "the row that was learned parts the group" all exits 0 ';' eval '[ "$(sort -u "$work/out" | wc -l)" = 5 ]'
run fingerprint --writers <"$work/in"
ok "--writers needs records" all exits 2 ';' one_sentence
run fingerprint </dev/null
ok "no line, no key" all exits 0 ';' lines 0
printf 'connect to pay-3:443 timed out after 3000 ms' >"$work/in"
run fingerprint <"$work/in"
ok "a last line without an end counts" all exits 0 ';' says "$same"

# Dead letters, explained without a server.
letter()
{
    printf '{"topic": "orders-dlq", "partition": 1, "offset": 17, "key": null, "value": "%s", "headers": [%s]}\n' "$(printf %s "$1" | base64 -w0)" "${2:-}"
}
letter '{"price": 1.00, "dlq_metadata": {"error_type": "Timeout", "retry_count": 3}}' >"$work/in"
run ingest --explain "$work/in"
ok "a dead letter: format, reason, fields and what is sent" all exits 0 ';' says 'orders-dlq/1/17  dlq-metadata' ';' says 'the value has dlq_metadata' ';' \
    says 'member dlq_metadata.error_type = Timeout' ';' says 'orders, by the name' ';' says '{"price": 1.00}'
run ingest --explain --json "$work/in"
ok "the same for a program" all exits 0 ';' lines 1 ';' says '"format":"dlq-metadata"' ';' says '"attempts":3' ';' says '"value":"{\"price\": 1.00}"'
letter x "[\"kafka_dlt-original-topic\", \"$(printf 'or\033[31mders' | base64 -w0)\"], [\"kafka_dlt-original-offset\", \"AAAAAAAAAQI=\"], [\"springDeserializerExceptionValue\", \"rO0ABXNy\"]" >"$work/in"
run ingest --explain - <"$work/in"
ok "headers of bytes are numbers, and no byte of them reaches the terminal" all exits 0 ';' says '258 (8 bytes, big-endian)' ';' says 'not opened' ';' \
    says 'or\e[31mders' ';' not says $'\033'
{ echo '{"topic": '; letter x; } >"$work/in"
run ingest --explain "$work/in"
ok "a broken line is named and does not stop the rest" all exits 1 ';' warns 'in:1: ' ';' says 'orders-dlq/1/17  unknown'
run ingest
ok "ingest says what it needs" all exits 2 ';' one_sentence
