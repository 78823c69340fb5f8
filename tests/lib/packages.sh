#!/usr/bin/env bash
# packages.sh check|install GROUP…: says which Debian packages of these groups (build, demo, test, kafka, lint) are missing and why; install brings
# them, as root or with sudo. Without the right to it prints the one line that somebody else may run, and fails.
set -eu

# package | what it is for | needed by
packages() {
    cat <<'LIST'
gcc|compiles the program|build
make|builds it|build
pkg-config|finds the libraries|build
libc6-dev|headers of the C library|build
libncurses-dev|the terminal|build
libpq-dev|PostgreSQL|build
librdkafka-dev|Kafka|build
libjansson-dev|writes JSON|build
libpcre2-dev|regular expressions|build
libconfuse-dev|settings, themes, keymaps|build
postgresql|a private PostgreSQL|demo test
kcat|looks at Kafka in tests and bench|kafka
default-jre-headless|runs the real Kafka of the tests|kafka
maven|fetches the real Kafka of the tests once|kafka
pgbouncer|a real PgBouncer in the tests|test
libcmocka-dev|unit tests|test
libvterm-dev|a terminal for tests of the screen|test
clang|the second compiler, fuzzing|lint
libclang-rt-14-dev|its sanitizers|lint
clang-format|make format|lint
clang-tidy|make lint|lint
cppcheck|make lint|lint
python3|makes data for tests|test
LIST
}

verb=${1:-check}
shift || true
[ "$verb" = check ] || [ "$verb" = install ] || { echo "packages.sh: check or install?" >&2; exit 2; }
wanted=" ${*:-build} "

have() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

missing=()
if ! command -v dpkg-query >/dev/null; then
    echo "packages.sh: this is no Debian; install what corresponds to: $(packages | cut -d'|' -f1 | tr '\n' ' ')" >&2
    exit 0
fi
while IFS='|' read -r name why needed; do
    is_wanted=
    for group in $needed; do [[ "$wanted" == *" $group "* ]] && is_wanted=1; done
    [ -n "$is_wanted" ] || continue
    case "$name" in
    default-jre-headless) command -v java >/dev/null && continue ;;
    maven) command -v mvn >/dev/null && continue ;;
    python3) command -v python3 >/dev/null && continue ;;
    libclang-rt-14-dev) apt-cache show "$name" >/dev/null 2>&1 || { have clang && name=$(dpkg-query -W -f '${Depends}' clang | grep -o 'clang-[0-9]*' | head -n1 | sed 's/clang-\(.*\)/libclang-rt-\1-dev/'); } ;;
    esac
    have "$name" && continue
    [ ${#missing[@]} -eq 0 ] && echo "missing packages:"
    printf '  %-22s %s\n' "$name" "$why"
    missing+=("$name")
done < <(packages)
[ ${#missing[@]} -eq 0 ] && exit 0
[ "$verb" = check ] && { echo "install them with: apt-get update && apt-get install -y ${missing[*]}" >&2; exit 1; }

if [ "$(id -u)" = 0 ]; then
    as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo)
elif command -v sudo >/dev/null && [ -t 0 ]; then
    as_root=(sudo)
else
    echo "no right to install them here. Ask for: apt-get update && apt-get install -y ${missing[*]}" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
# A server that the package would start by itself is not wanted: only its programs are.
if [[ " ${missing[*]} " == *" postgresql "* ]]; then
    "${as_root[@]}" mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] ||
        echo 'create_main_cluster = false' | "${as_root[@]}" tee /etc/postgresql-common/createcluster.conf >/dev/null
fi
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
echo "installed: ${missing[*]}"
