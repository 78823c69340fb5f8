# Incidents that incident.sql planted, each by a seed, and what `redrive apart` says of them. A database of its own.

incidents=redrive_incidents_$$
psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE $incidents ENCODING 'UTF8' TEMPLATE template0"
psql -XAtq "$server dbname=$incidents" -c "$(sed -n 's/^ *"\(.*\)" *\\\?$/\1/p' "$here/../lib/contract.h")"
incident_sql() { psql -XAtq -v ON_ERROR_STOP=1 "$server dbname=$incidents" "$@"; }

for seed in 11 23 37 41 58 64 79 85 97; do
    incident_sql -c "TRUNCATE public.dlq_events RESTART IDENTITY" -c "DROP TABLE IF EXISTS public.truth" 2>/dev/null
    incident_sql -v seed=$seed -v events=2500 -f "$here/incident.sql"
    field=$(incident_sql -c "SELECT field FROM public.truth") value=$(incident_sql -c "SELECT value FROM public.truth")
    run apart -d "$server dbname=$incidents" --filter PricingException --json
    ok "seed $seed: $field $value is the first row" all exits 0 ';' json "rows[0]['field'] == '$field' and '$value' in rows[0]['where'].replace('from', 'after')"
    ok "seed $seed: no id, hash, counter or constant is a row" \
        json "not any(r['field'].strip('\$.') in ('orderId', 'checksum', 'seq', 'schema', 'event_id', 'id', 'offset') for r in rows)"
done
psql -XAtq "$server dbname=postgres" -c "DROP DATABASE IF EXISTS $incidents WITH (FORCE)" >/dev/null 2>&1
