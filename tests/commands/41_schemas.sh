# Values of Avro, JSON Schema and Protobuf: decoded by a file or a registry to be looked at, found by a path, and sent as the bytes that they are.

if [ -z "$brokers" ] || [ ! -x "$topic_tool" ] || ! command -v kcat >/dev/null; then
    skip "values of a schema registry" "REDRIVE_TEST_KAFKA, tests/tools/topic or kcat is missing"
    return 0
fi

schemas_db=redrive_schemas_$$
psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE $schemas_db ENCODING 'UTF8' TEMPLATE template0"
schemas_pg="$server dbname=$schemas_db"
schemas_sql() { psql -XAtq -v ON_ERROR_STOP=1 "$schemas_pg" -c "$1"; }
schemas_say() # STATEMENT WANTED, or part of it behind ~
{
    local said
    said=$(schemas_sql "$1")
    case $2 in
    '~'*) [[ $said == *"${2#?}"* ]] ;;
    *) [ "$said" = "$2" ] ;;
    esac || { printf '#   said: %s\n' "$said"; return 1; }
}
schemas_wait() # as schemas_say
{
    for _ in {1..300}; do
        ! schemas_say "$@" >/dev/null || return 0
        sleep 0.1
    done
    schemas_say "$@"
}
psql -Xq "$schemas_pg" -f "$here/table.sql"
run migrate -d "$schemas_pg"
schemas_of=(-d "$schemas_pg" -b "$brokers")
avro_orders=commands-avro-$$
avro_letters=$avro_orders-dlq
"$topic_tool" "$brokers" "$avro_letters" 1
"$topic_tool" "$brokers" "$avro_orders" 1
put_value() # KEY BYTES (as printf writes them)
{
    printf "$2" >"$work/value"
    kcat -b "$brokers" -t "$avro_letters" -P -k "$1" -q "$work/value"
}
order_schema='{"type":"record","name":"Order","fields":[{"name":"order_id","type":"long"},{"name":"customer","type":"string"}]}'

# --- by a file ---

mkdir -p "$work/schemas" "$work/schemas.home/redrive"
echo "$order_schema" >"$work/schemas/42.avsc"
echo '"string"' >"$work/schemas/$avro_orders.value.avsc"
echo 'no schema' >"$work/schemas/9.avsc"
schemas_config() # LINES…
{
    printf '%s\n' "$@" >"$work/schemas.home/redrive/config"
}
schemas_config "schema_files = \"$work/schemas\""
put_value a-1 '\x00\x00\x00\x00\x2a\x82\x80\x80\x80\x80\x80\x80\x20\x06ana'
put_value a-2 '\x00\x00\x00\x00\x2a\x0e\x06bob'
put_value a-3 '\x00\x00\x00\x00\x2a\x0e\xfe'
put_value a-4 '\x0awords'
XDG_CONFIG_HOME=$work/schemas.home run ingest "${schemas_of[@]}" --topics "$avro_letters" --once --json
ok "values with a schema's number are taken in" all exits 0 ';' json 'rows[0]["events"] == 4'
ok "what the file says is in event_payload, with all digits" schemas_say "SELECT event_payload->>'order_id' FROM dlq_events WHERE event_payload->>'customer' = 'ana'" 9007199254740993
ok "a value that names no schema is decoded by its topic's" schemas_say "SELECT event_payload FROM dlq_events ORDER BY id DESC LIMIT 1" '"words"'
ok "one that is cut says where" schemas_say "SELECT event_payload FROM dlq_events ORDER BY id DESC OFFSET 1 LIMIT 1" '~schema 42: byte 2: the value ends within a number'
ok "a file that is no schema is told" warns 9.avsc
ok "the bytes are what they were" schemas_say "SELECT encode(value, 'hex') FROM redrive.record ORDER BY dlq_id OFFSET 1 LIMIT 1" 000000002a0e06626f62
run events "${schemas_of[@]:0:2}" --filter '$.customer=ana' --json
ok "a path finds it" json 'len(rows) == 1'
run events "${schemas_of[@]:0:2}" --filter 'payload:"ana"' --json
ok "and so does its text" json 'len(rows) == 1'
run groups "${schemas_of[@]:0:2}" --by '$.customer' --json
ok "groups by a path" says '"bob"'
id=$(schemas_sql "SELECT id FROM dlq_events WHERE event_payload->>'customer' = 'bob'")
run show "${schemas_of[@]:0:2}" "$id"
ok "show says what it is decoded from, and what is sent" all says "decoded, to look at; a reprocess sends the bytes" ';' says "the file 42.avsc" ';' says '"customer":"bob"'
run show "${schemas_of[@]:0:2}" "$id" --json
ok "as fields too" all json 'rows[0]["decoded"]["schema"] == "42" and rows[0]["decoded"]["language"] == "Avro" and rows[0]["decoded"]["json"] == "{\"order_id\":7,\"customer\":\"bob\"}"'
"$REDRIVE" show "${schemas_of[@]:0:2}" "$id" --as-sent >"$work/sent.bytes" 2>/dev/null
ok "show --as-sent has the bytes" eval '[ "$(od -An -tx1 "$work/sent.bytes" | tr -d " \n")" = 000000002a0e06626f62 ]'
run export "${schemas_of[@]:0:2}" --filter "id:$id"
ok "an export has the bytes" json 'rows[0]["payload"] == "\0\0\0\0*\x0e\x06bob" and rows[0]["exact"]'
echo 'set $.customer = "eve"' >"$work/schema.recipe"
run correct "${schemas_of[@]:0:2}" --id "$id" --recipe "$work/schema.recipe" --yes
ok "no recipe edits what is decoded" schemas_say "SELECT count(*) FROM redrive.revision" 0
run reprocess "${schemas_of[@]}" --id "$id" --to "$avro_orders" --yes
ok "it is sent" exits 0
kcat -b "$brokers" -t "$avro_orders" -C -e -q -o beginning -X isolation.level=read_committed -f '%s' >"$work/sent.bytes" 2>/dev/null
ok "as the bytes that it is" eval '[ "$(od -An -tx1 "$work/sent.bytes" | tr -d " \n")" = 000000002a0e06626f62 ]'

# --- by a registry ---

cat >"$work/registry.py" <<'PY'
import base64, http.server, json, sys, time
work, schema = sys.argv[1], sys.argv[2]
refers = '{"type":"record","name":"shop.Paid","fields":[{"name":"state","type":"State"}]}'
answers = {
    "/schemas/ids/77": {"schema": schema},
    "/schemas/ids/78": {"schema": refers, "schemaType": "AVRO", "references": [{"name": "shop.State", "subject": "state/x", "version": 3}]},
    "/subjects/%73%74%61%74%65%2F%78/versions/%33": {"schema": '{"type":"enum","name":"shop.State","symbols":["OPEN","PAID"]}'},
    "/schemas/ids/79": {"schema": "{}", "schemaType": "JSON"},
    "/schemas/ids/80": {"schema": "rubbish"},
    "/schemas/ids/84": {"schema": 'syntax = "proto3"; message A { int32 a = 1; }', "schemaType": "PROTOBUF"},
    "/schemas/ids/84?format=serialized": {"schema": base64.b64encode(b"\x0a\x01x\x22\x0e\x0a\x01A\x12\x09\x0a\x01a\x18\x01\x20\x01\x28\x05").decode(), "schemaType": "PROTOBUF"},
}
class Registry(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(work + "/asked", "a") as out:
            out.write("%s %s\n" % (self.path, self.headers.get("Authorization", "")))
        if self.path == "/schemas/ids/81":
            self.send_response(302)
            self.send_header("Location", "file:///etc/passwd")
            self.end_headers()
        elif self.path == "/schemas/ids/82":
            self.send_response(200)
            self.end_headers()
            try:
                for _ in range(100):
                    self.wfile.write(b" " * 100000)
            except OSError:
                pass
        elif self.path == "/schemas/ids/83":
            time.sleep(30)
        elif self.path in answers:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(answers[self.path]).encode())
        else:
            self.send_response(404)
            self.end_headers()
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[3])), Registry)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
PY
: >"$work/asked"
registry_start() # PORT; 0: any
{
    "$python" -S "$work/registry.py" "$work" "$order_schema" "$1" >"$work/registry.port" 2>"$work/registry.log" &
    registry=$!
    for _ in {1..100}; do [ -s "$work/registry.port" ] || sleep 0.1; done
}
registry_start 0
registry_port=$(cat "$work/registry.port")
kill $registry
wait $registry 2>/dev/null
(umask 077 && echo a-secret-word >"$work/registry.password")
schemas_config "schema_registry_url = \"http://127.0.0.1:$registry_port/\"" 'schema_registry_user = "ana"' \
    "schema_registry_password = \"$work/registry.password\""

put_value b-1 '\x00\x00\x00\x00\x4d\x10\x06eve'
XDG_CONFIG_HOME=$work/schemas.home run ingest "${schemas_of[@]}" --topics "$avro_letters" --once --json
ok "a registry that is away keeps nothing out" all exits 0 ';' json 'rows[0]["events"] == 1' ';' warns "cannot be reached"
ok "the event says what it is" schemas_say "SELECT event_payload FROM dlq_events ORDER BY id DESC LIMIT 1" '~schema 77 of a schema registry'
ok "and that it waits" schemas_say "SELECT decoding FROM redrive.record WHERE schema = '77'" waiting

registry_start "$registry_port"
schemas_sql "UPDATE redrive.schema_missed SET next_at = now()"
put_value p-1 '\x00\x00\x00\x00\x54\x00\x08\x96\x01'
put_value j-1 '\x00\x00\x00\x00\x4f{"a": 2.50}'
for n in 4e 50 51 52; do put_value "c-$n" "\\x00\\x00\\x00\\x00\\x$n\\x02"; done
XDG_CONFIG_HOME=$work/schemas.home "$REDRIVE" ingest "${schemas_of[@]}" --topics "$avro_letters" >"$work/out" 2>"$work/err" &
ingester=$!
ok "when it is back, what waited is decoded" schemas_wait "SELECT event_payload->>'customer' FROM dlq_events e JOIN redrive.record r ON r.dlq_id = e.id WHERE schema = '77'" eve
ok "by what a schema refers to as well" schemas_wait "SELECT event_payload->>'state' FROM dlq_events e JOIN redrive.record r ON r.dlq_id = e.id WHERE schema = '78'" PAID
ok "Protobuf by its descriptor" schemas_wait "SELECT event_payload FROM dlq_events e JOIN redrive.record r ON r.dlq_id = e.id WHERE schema = '84'" '{"a": 150}'
ok "JSON Schema is the JSON behind the number" schemas_wait "SELECT event_payload FROM dlq_events e JOIN redrive.record r ON r.dlq_id = e.id WHERE schema = '79'" '{"a": 2.50}'
ok "rubbish, redirects and floods are refused" schemas_wait "SELECT string_agg(name, ' ' ORDER BY name) FROM redrive.schema_missed" "80 81 82"
ok "a redirect is not followed" schemas_say "SELECT why FROM redrive.schema_missed WHERE name = '81'" '~a redirect, which is not followed'
ok "a flood is cut" schemas_say "SELECT why FROM redrive.schema_missed WHERE name = '82'" '~more than 4194304 bytes'
put_value d-1 '\x00\x00\x00\x00\x53\x02'
put_value d-2 '{"n": 1}'
ok "one that does not answer holds nothing up" schemas_wait "SELECT count(*) FROM dlq_events WHERE event_payload = '{\"n\": 1}'" 1
kill -TERM $ingester
wait $ingester
ok "it ends in order" [ $? -eq 0 ]
ok "the password is sent, and never told" eval 'grep -q "Basic $(printf ana:a-secret-word | base64)" "$work/asked" && ! grep -q secret-word "$work/err" && ! schemas_sql "SELECT * FROM redrive.schema_missed" | grep -q secret-word'
kill $registry
wait $registry 2>/dev/null
XDG_CONFIG_HOME=$work/none run events "${schemas_of[@]:0:2}" --filter '$.state=PAID' --json
ok "what was found stays, without a registry" json 'len(rows) == 1'
