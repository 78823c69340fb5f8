#!/usr/bin/env bash
# packages.sh check|install|list SET…: the Debian packages that each set of goals needs, and why.
#
# `check` says what is missing and ends with 1; `install` installs it with apt-get, as root or by sudo; without the right to, it prints
# the one line to run and ends with 1. Where everything is there, neither says a word nor touches the network.
set -eu

table='
build build-essential      compiler, linker and headers of the C library
build pkg-config           finds the libraries below
build libncurses-dev       the screen
build libpq-dev            PostgreSQL client
build librdkafka-dev       Kafka client
build libjansson-dev       JSON that redrive itself writes
build libpcre2-dev         regular expressions
build libconfuse-dev       settings, keymaps and themes
build liblz4-dev           texts in memory, compressed
build libmicrohttpd-dev    the endpoint of metrics
build libcurl4-openssl-dev notices of alerts
build libjq-dev            jq programs in recipes
build libyaml-dev          policies that a team wrote in YAML
demo  postgresql           a private server for the backlog
demo  python3-jsonschema   the check of an example
test  postgresql           a private server; one that is there already is never touched
test  pgbouncer            the pooler that redrive has to work behind
test  libcmocka-dev        unit tests
test  libvterm-dev         a terminal for tests to look at
test  tmux                 a run under a multiplexer
test  openssl              makes certificates for tests of TLS
test  python3              reads what --json prints
test  python3-jsonschema   the check of an example
test  prometheus           scrapes the metrics, and promtool reads them
test  prometheus-alertmanager takes notices of alerts
test  man-db               formats the manual pages, and warns
test  jq                   the command that a result is piped into
kafka default-jre-headless runs Kafka
kafka curl                 fetches Kafka from Maven Central, once, where there is no Maven
kafka ca-certificates      and knows whom it speaks to
kafka kcat                 asks a broker whether it is ready
bench jq                   reads and prints JSON, to be compared with
lint  clang                the second compiler, and libFuzzer
lint  clang-rt             sanitizers of clang, for make fuzz
lint  clang-format         make format
lint  clang-tidy           make lint
lint  cppcheck             make lint
'

# By that name, or by whatever else serves.
is_installed()
{
    dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed && return
    case $1 in
    default-jre-headless) command -v java ;;
    # Maven fetches as well.
    curl | ca-certificates) command -v mvn || { [ "$1" = curl ] && command -v curl; } ;;
    pkg-config | python3) command -v "$1" ;;
    build-essential) command -v gcc && command -v make && test -e /usr/include/stdlib.h ;;
    # A server of any version; the package only names the newest.
    postgresql) ls /usr/lib/postgresql/*/bin/initdb && command -v psql ;;
    *) false ;;
    esac >/dev/null 2>&1
}

# The run-time of clang's sanitizers carries clang's version in its name.
real_name()
{
    local version
    case $1 in
    clang-rt)
        version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)
        echo "libclang-rt-${version:-14}-dev"
        ;;
    *) echo "$1" ;;
    esac
}

# "package why" of everything in the chosen sets, each package once.
wanted()
{
    local set
    for set in "$@"; do
        echo "$table" | sed -n "s/^$set  *//p"
    done | awk '!seen[$1]++'
}

apt_install()
{
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
}

# The installation of a server makes and starts a cluster for the whole machine. Nobody asked for one: where PostgreSQL is new to
# this machine, that is switched off while it is installed.
install_without_cluster()
{
    local conf=/etc/postgresql-common/createcluster.conf status=0
    apt_install postgresql-common
    $sudo cp -p "$conf" "$conf.before"
    $sudo sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' "$conf"
    apt_install "$@" || status=$?
    $sudo mv "$conf.before" "$conf"
    return $status
}

# Prometheus, Alertmanager and others would be started for the whole machine when they are installed; tests start their own
# (policy-rc.d, invoke-rc.d(8)).
without_services()
{
    local policy=/usr/sbin/policy-rc.d status=0
    if [ -e "$policy" ]; then
        "$@"
        return
    fi
    printf '#!/bin/sh\nexit 101\n' | $sudo tee "$policy" >/dev/null
    $sudo chmod 755 "$policy"
    "$@" || status=$?
    $sudo rm -f "$policy"
    return $status
}

install_missing()
{
    $sudo apt-get update -q || echo "The lists of packages could not be refreshed; trying with those that are there." >&2
    case " $* " in
    *" postgresql "*)
        if ! dpkg-query -W postgresql-common >/dev/null 2>&1; then
            without_services install_without_cluster "$@"
            return
        fi
        ;;
    esac
    without_services apt_install "$@"
}

action=${1:?packages.sh check|install|list SET…}
shift
if [ "$action" = list ]; then
    wanted "$@" | while read -r name why; do printf '%-24s %s\n' "$(real_name "$name")" "$why"; done
    exit 0
fi
# Not a Debian: whoever builds there knows where libraries come from.
command -v dpkg-query >/dev/null || exit 0

missing=()
while read -r name why; do
    [ -n "$name" ] || continue
    name=$(real_name "$name")
    if ! is_installed "$name"; then
        [ ${#missing[@]} -gt 0 ] || echo "Packages that are missing:" >&2
        printf '  %-24s %s\n' "$name" "$why" >&2
        missing+=("$name")
    fi
done < <(wanted "$@")
[ ${#missing[@]} -gt 0 ] || exit 0

sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
if [ "$action" = install ]; then
    # sudo may ask for a password where somebody is there to type it.
    if [ -z "$sudo" ] || sudo -n true 2>/dev/null || { [ -t 0 ] && command -v sudo >/dev/null && sudo -v; }; then
        echo "Installing them" >&2
        install_missing "${missing[@]}" >&2
        exit
    fi
fi
echo "Install them, then try again:" >&2
echo "  ${sudo:+$sudo }apt-get update && ${sudo:+$sudo }apt-get install -y --no-install-recommends ${missing[*]}" >&2
exit 1
