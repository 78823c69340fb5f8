#!/usr/bin/env bash
# debian.sh [--user] RELEASE [demo|shell|GOAL…] [NAME=VALUE…]: runs make in a bare Debian of that release, with a checkout of HEAD.
#
#   tests/lib/debian.sh trixie                      make demo, then make test, as root
#   tests/lib/debian.sh --user bookworm             the same as a user who may use sudo
#   tests/lib/debian.sh trixie test LAYERS=unit JOBS=1
#   tests/lib/debian.sh trixie shell                a shell in the checkout, to look around
#
# The goal `demo` is proved without a person: its first screen is awaited, q leaves it, and nothing may be left behind.
# Other goals are make's own; each NAME=VALUE goes to make. The exit status is that of the first goal that failed.
#
# The Debian comes from this machine's own mirror, by its proxy and with its authorities; DEBIAN_MIRROR and
# DEBIAN_SECURITY_MIRROR name others. Packages and Kafka's jars are kept in build/cache (REDRIVE_CACHE), the Debian itself is below
# TMPDIR and goes away at the end. Needs root or sudo, and debootstrap. Mounts and processes live in namespaces of their own: they
# end with this script, however it ends.
set -eu
. "$(dirname "$0")/common.sh"

FIRST_SCREEN='pending in' # "20,000 pending in 12 groups"

# --- this machine's way to packages -------------------------------------------------------------------------------------

# mirror LABEL: the address that apt here knows for it; nothing for a machine that is no Debian.
mirror()
{
    apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' 2>/dev/null | sed -n "s/^Debian|$1|\(https\{0,1\}:.*[^/]\)\/*\$/\1/p" | sort -u | head -n 1
}

# How apt reaches it: proxies, authorities, and whether this machine's clock is to be trusted.
apt_settings()
{
    apt-config dump 2>/dev/null | grep -iE '^Acquire::(https?|Check-[A-Za-z-]*)(::[^ ]*)? "..*";$' || true
}

# apt_proxy http|https: for debootstrap, which asks the environment.
apt_proxy()
{
    local proxy=
    eval "$(apt-config shell proxy "Acquire::$1::Proxy" 2>/dev/null)"
    [ "$proxy" = DIRECT ] || echo "$proxy"
}

# --- outside: a namespace for everything, and the end --------------------------------------------------------------------

outside()
{
    local place
    command -v debootstrap >/dev/null || PATH=$PATH:/usr/sbin:/sbin
    command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install -y debootstrap"
    place=$(mktemp -d "${TMPDIR:-/tmp}/redrive-debian.XXXXXX")
    # shellcheck disable=SC2064
    trap "end '$place'" EXIT
    trap 'exit 130' INT TERM HUP
    # In the background, so that a signal reaches this shell at once.
    unshare --mount --pid --fork --kill-child --mount-proc "$0" --inside "$place/root" "$@" <&0 &
    namespace=$!
    local status=0
    wait "$namespace" || status=$?
    namespace=
    exit $status
}

namespace=
# Nothing is mounted in the folder as this shell sees it.
end()
{
    trap '' INT TERM HUP
    if [ -n "$namespace" ]; then
        kill -KILL "$namespace" 2>/dev/null || true
        wait "$namespace" 2>/dev/null || true
    fi
    rm -rf --one-file-system "$1" 2>/dev/null || { sleep 1; rm -rf --one-file-system "$1"; }
    chown -R --reference="$ROOT" "$CACHE"/debian-* 2>/dev/null || true
}

# --- inside --------------------------------------------------------------------------------------------------------------

bootstrap()
{
    local main security packages=$CACHE/debian-$RELEASE scheme proxy
    main=${DEBIAN_MIRROR:-$(mirror Debian)}
    security=${DEBIAN_SECURITY_MIRROR:-$(mirror Debian-Security)}
    [ -n "$main" ] || fail "apt of this machine knows no mirror of Debian: name one in DEBIAN_MIRROR (and DEBIAN_SECURITY_MIRROR)"
    for scheme in http https; do
        proxy=$(apt_proxy $scheme)
        [ -z "$proxy" ] || export "${scheme}_proxy=$proxy"
    done
    mkdir -p "$packages"
    echo "Making a bare Debian $RELEASE" >&2
    if ! debootstrap --variant=minbase --cache-dir="$packages" "$RELEASE" "$NEW" "$main" >"$NEW.log" 2>&1; then
        tail -n 20 "$NEW.log" "$NEW/debootstrap/debootstrap.log" >&2 || true
        fail "debootstrap failed"
    fi
    echo "deb $main $RELEASE main" >"$NEW/etc/apt/sources.list"
    echo "deb $main $RELEASE-updates main" >>"$NEW/etc/apt/sources.list"
    [ -z "$security" ] || echo "deb $security $RELEASE-security main" >>"$NEW/etc/apt/sources.list"
    mount --bind "$packages" "$NEW/var/cache/apt/archives"
    mkdir -p "$NEW/var/cache/apt/archives/partial"
    reach_the_world "$main$security"
}

# The names, proxies and authorities that this machine needs.
reach_the_world()
{
    local file
    for file in /etc/resolv.conf /etc/hosts /etc/hostname; do
        [ ! -e $file ] || cp -L $file "$NEW$file"
    done
    apt_settings >"$NEW/etc/apt/apt.conf.d/90machine"
    mkdir -p "$NEW/usr/local/share/ca-certificates"
    find /usr/local/share/ca-certificates -name '*.crt' -exec cp -L -t "$NEW/usr/local/share/ca-certificates" {} + 2>/dev/null || true
    sed -n 's/^Acquire::https\{0,1\}::\(.*::\)\{0,1\}CaInfo "\(.*\)";/\2/Ip' "$NEW/etc/apt/apt.conf.d/90machine" |
        while read -r file; do
            [ ! -f "$file" ] || install -D -m 644 "$file" "$NEW$file"
        done
    # Before ca-certificates is installed, apt knows no authority.
    case $1 in
    *https:*) install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$NEW/etc/ssl/certs/ca-certificates.crt" ;;
    esac
}

# A machine's /dev without its disks, shared memory and terminals of its own.
mount_kernel()
{
    local device
    mount -t proc proc "$NEW/proc"
    mount --rbind --make-rslave /sys "$NEW/sys"
    mount -t tmpfs -o mode=755 dev "$NEW/dev"
    for device in null zero full random urandom tty; do
        : >"$NEW/dev/$device"
        mount --bind "/dev/$device" "$NEW/dev/$device"
    done
    mkdir "$NEW/dev/pts" "$NEW/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$NEW/dev/pts"
    mount -t tmpfs -o mode=1777 shm "$NEW/dev/shm"
    ln -s pts/ptmx "$NEW/dev/ptmx"
    ln -s /proc/self/fd "$NEW/dev/fd"
    ln -s fd/0 "$NEW/dev/stdin"
    ln -s fd/1 "$NEW/dev/stdout"
    ln -s fd/2 "$NEW/dev/stderr"
}

# in_debian COMMAND…: by the person who runs the goals, or by root with `as=root`.
in_debian()
{
    local name
    local -a settings=()
    for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY REDRIVE_MAVEN_CENTRAL; do
        [ -z "${!name:-}" ] || settings+=("$name=${!name}")
    done
    chroot --userspec="${as:-$PERSON}" --groups= "$NEW" /usr/bin/env -i ${settings[@]+"${settings[@]}"} \
        HOME="$([ "${as:-$PERSON}" = root ] && echo /root || echo "/home/$PERSON")" TERM=xterm LANG=C.UTF-8 SHELL=/bin/bash \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"
}

# No more than README asks for: make, and sudo for one who is not root.
prepare()
{
    local jars
    as=root in_debian sh -c 'apt-get update -q && apt-get install -y -q --no-install-recommends "$@"' apt \
        make $([ "$PERSON" = root ] || echo sudo) >"$NEW.log" 2>&1 || { tail -n 20 "$NEW.log" >&2; fail "make could not be installed there"; }
    if [ "$PERSON" != root ]; then
        as=root in_debian useradd --create-home --shell /bin/bash "$PERSON"
        echo "$PERSON ALL=(ALL) NOPASSWD: ALL" >"$NEW/etc/sudoers.d/$PERSON"
    fi
    mkdir -p "$NEW$CHECKOUT"
    git -c safe.directory='*' -C "$ROOT" archive HEAD | tar -x -C "$NEW$CHECKOUT"
    for jars in "$CACHE"/kafka-*[0-9]; do
        [ ! -d "$jars" ] || { mkdir -p "$NEW$CHECKOUT/build/cache" && cp -r "$jars" "$NEW$CHECKOUT/build/cache"; }
    done
    as=root in_debian chown -R "$PERSON:" "$CHECKOUT"
}

in_checkout()
{
    in_debian sh -c 'cd "$1" && shift && exec "$@"' in "$CHECKOUT" "$@"
}

# demo [NAME=VALUE…]
demo()
{
    local seen=$NEW.demo status=0 from=$SECONDS shown=no child
    : >"$seen"
    mkfifo "$NEW.keys"
    # The fifo stays open for writing, so that the terminal does not end before q is typed.
    exec 5<>"$NEW.keys"
    in_checkout script -q -e -f -c "stty rows 40 cols 120; exec make demo $([ $# = 0 ] || printf '%q ' "$@")" /dev/null <"$NEW.keys" >"$seen" 2>&1 5>&- &
    child=$!
    while is_alive $child && [ $((SECONDS - from)) -lt 1800 ]; do
        if [ $shown = no ] && grep -q "$FIRST_SCREEN" "$seen"; then
            shown=yes
            echo "    first screen after $((SECONDS - from)) s"
            printf q >&5
            from=$SECONDS
        fi
        [ $shown = no ] || [ $((SECONDS - from)) -lt 60 ] || break
        sleep 0.2
    done
    if is_alive $child; then
        tail -c 3000 "$seen"
        echo "    FAILED demo: $([ $shown = yes ] && echo "q did not leave it" || echo "no first screen")"
        kill -KILL $child
        return 1
    fi
    wait $child || status=$?
    exec 5>&-
    rm "$NEW.keys"
    if [ $status -ne 0 ] || [ $shown = no ]; then
        tail -c 3000 "$seen"
        echo "    FAILED demo: ended with $status, first screen: $shown"
        return 1
    fi
    nothing_is_left
}

# A second for guards that look once a second.
nothing_is_left()
{
    local try left
    for try in {1..50}; do
        left=$(find "$NEW$CHECKOUT/build" -maxdepth 1 -name 'demo.*'
            for pid in /proc/[0-9]*; do readlink "$pid/exe" 2>/dev/null; done | grep -E '/(postgres|redrive|java|broker|consumer|arrive)$' || true)
        [ -n "$left" ] || return 0
        sleep 0.1
    done
    echo "    FAILED demo left behind: $left"
    return 1
}

inside()
{
    local goal status
    local -a goals=() variables=()
    NEW=$1 PERSON=$2 RELEASE=$3
    shift 3
    CHECKOUT=/srv/redrive # tests give up rights of root, and a home of root keeps them out
    [ "$PERSON" = root ] || CHECKOUT=/home/$PERSON/redrive
    for goal in "$@"; do
        case $goal in
        *=*) variables+=("$goal") ;;
        *) goals+=("$goal") ;;
        esac
    done
    [ ${#goals[@]} -gt 0 ] || goals=(demo test)
    bootstrap
    mount_kernel
    prepare
    for goal in "${goals[@]}"; do
        status=0
        echo "Debian $(cat "$NEW/etc/debian_version"), $PERSON: make $goal ${variables[*]-}"
        case $goal in
        demo) demo ${variables[@]+"${variables[@]}"} || status=$? ;;
        shell) in_checkout bash || true ;;
        *) in_checkout make "$goal" ${variables[@]+"${variables[@]}"} </dev/null || status=$? ;;
        esac
        [ $status -eq 0 ] || exit $status
    done
}

if [ "${1:-}" = --inside ]; then
    shift
    inside "$@"
    exit
fi
person=root
if [ "${1:-}" = --user ]; then
    person=somebody
    shift
fi
case ${1:-} in
'' | -*) fail "debian.sh [--user] RELEASE [demo|shell|GOAL…] [NAME=VALUE…]" ;;
esac
[ "$(id -u)" = 0 ] || exec sudo --preserve-env=REDRIVE_CACHE,TMPDIR,DEBIAN_MIRROR,DEBIAN_SECURITY_MIRROR,REDRIVE_MAVEN_CENTRAL,http_proxy,https_proxy,no_proxy \
    "$0" $([ $person = root ] || echo --user) "$@"
outside "$person" "$@"
