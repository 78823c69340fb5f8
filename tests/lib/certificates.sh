#!/usr/bin/env bash
# certificates.sh DIR: the certificates that a test of TLS needs, made in DIR within a second; all PEM, valid for a day, since an hour
# ago, so that a clock that is set back meanwhile does no harm.
#
#   ca.pem                 whom clients trust
#   server.pem, .key       for 127.0.0.1 and localhost, by that authority; server-both.pem has both, as Kafka wants them
#   misnamed*.pem, .key    the same for elsewhere.example
#   stranger.pem           an authority that signed none of these
#   expired*.pem, .key     for 127.0.0.1, out of date since 2020
set -eu
mkdir -p "${1:?certificates.sh DIR}"
cd "$1"

key()
{
    openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null ||
        openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null
    chmod 600 "$1"
}

# `openssl x509` cannot set the first day of validity before OpenSSL 3.4, and refuses a negative number of days since then.
# `openssl ca` can in every version, and wants a register of what it signed.
mkdir register
cat >register/conf <<END
[ca]
default_ca = tests
[tests]
database = register/index
new_certs_dir = register
default_md = sha256
rand_serial = yes
policy = names
[names]
commonName = supplied
END
: >register/index

valid=(-startdate "$(date -u -d '1 hour ago' +%Y%m%d%H%M%SZ)" -enddate "$(date -u -d '1 day' +%Y%m%d%H%M%SZ)")

# sign NAME COMMON-NAME EXTENSIONS OPTION…: a key and its certificate.
sign()
{
    local name=$1 common=$2 extensions=$3
    shift 3
    key "$name.key"
    openssl req -new -key "$name.key" -subj "/CN=$common" -out "$name.csr" 2>/dev/null
    openssl ca -batch -notext -config register/conf -in "$name.csr" -out "$name.pem" "$@" -extfile <(printf '%b\n' "$extensions") 2>register/log ||
        { cat register/log >&2; exit 1; }
    rm -f "$name.csr"
}

# authority NAME COMMON-NAME
authority()
{
    sign "$1" "$2" 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign' -selfsign -keyfile "$1.key" "${valid[@]}"
}

# certificate NAME ALTERNATIVE-NAMES VALIDITY…
certificate()
{
    local name=$1 names=$2
    shift 2
    sign "$name" "$name" "subjectAltName=$names" -cert ca.pem -keyfile ca.key "$@"
    cat "$name.key" "$name.pem" >"$name-both.pem"
    chmod 600 "$name-both.pem"
}

authority ca 'redrive test authority'
authority stranger 'somebody else'
certificate server 'IP:127.0.0.1,DNS:localhost' "${valid[@]}"
certificate misnamed 'DNS:elsewhere.example' "${valid[@]}"
certificate expired 'IP:127.0.0.1,DNS:localhost' -startdate 20200101000000Z -enddate 20200102000000Z
rm -r register
