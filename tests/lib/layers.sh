#!/usr/bin/env bash
# layers.sh [ROOT]: fails where a file includes a folder it may not see, or a library outside its home, or shows a library's types in a
# header; or names a document that is not in the repository. The folders and arrows are those of CONTRIBUTING.md.
set -eu
cd "${1:-$(dirname "$0")/../..}"
status=0

fail()
{
    echo "$1"
    status=1
}

# includes FILES…: "file:line: <header>" or "file:line: "header"", one line an include.
includes()
{
    grep -rHnE '^[[:space:]]*#[[:space:]]*include' --include='*.[ch]' --include='*.def' "$@" 2>/dev/null |
        sed -nE 's/^([^:]*:[0-9]+):[^"<]*(["<][^">]*)[">].*/\1: \2/p'
}

# room FOLDER ALLOWED…: the files below FOLDER include no other folders than these and their own. A folder that does not exist yet
# breaks nothing.
room()
{
    local folder=$1 allowed lines
    shift
    [ -d "$folder" ] || return 0
    allowed=$(printf '|%s' "${folder#src/}" "$@")
    lines=$(includes "$folder" | grep -vE ": (\"(${allowed#|})(/|$)|<)") || return 0
    fail "$(echo "$lines" | sed 's/: "/: must not include "/; s/$/"/')"
}

# home LIBRARY HEADERS PATHS: only files that match PATHS include HEADERS.
home()
{
    local lines
    lines=$(includes src ui | grep -E ": <($2)" | grep -vE "^($3):") || return 0
    fail "$(echo "$lines" | sed "s~: <.*~: $1 is at home in $(echo "$3" | sed 's/\\//g; s/\[^:\]\*//g; s/|/, /g')~")"
}

# hidden LIBRARY TYPES PATHS: only headers that match PATHS, each private to its folder, name TYPES.
hidden()
{
    local lines
    lines=$(grep -rHnE --include='*.h' "(^|[^[:alnum:]_])($2)" src ui | grep -vE '^[^:]*:[0-9]+:[[:space:]]*//' |
        grep -vE "^($3):") || return 0
    fail "$(echo "$lines" | sed -E "s~^([^:]*:[0-9]+):.*~\1: a type of $1 must not appear in a header~")"
}

room src/base
room src/core base
room src/settings base core
room src/async base core
room src/process base core
room src/http base
room src/store base core
room src/broker base core
room src/notify base core process http
room src/watch base core async process store broker notify
for name in publish search rollup correct export ingest; do
    room src/$name base core async process store broker
done
room src/backend base core async process store broker publish search rollup correct export
room ui base core async settings
# Inside ui the arrows point this way too. views.def is a list without includes: the sections of a keymap are its rows.
room ui/canvas base
room ui/theme base settings ui/canvas
room ui/keymap base settings ui/theme ui/views.def
room ui/term base ui/canvas ui/theme ui/keymap
room ui/editor base core/json core/filter
room ui/widgets base core ui/canvas ui/keymap
room ui/app base core async settings ui/canvas ui/theme ui/keymap ui/term ui/widgets ui/view.h
room ui/views base core async settings ui/canvas ui/theme ui/keymap ui/editor ui/widgets ui/app ui/view.h
# The order of actions.def is the order of help and nothing more: no arithmetic and no ranges of its rows.
lines=$(grep -rHnE '(^|[^=!<>])([<>]=?|[-+]) *DO_[A-Z]|DO_[A-Z0-9_]+ *([<>]=?|[-+]) ' --include='*.[ch]' ui src | grep -vE 'DO_NONE|DO_COUNT') &&
    fail "$(echo "$lines" | sed 's/$/  (the order of actions.def bears no load)/')"
# Only what opens the screen (screen.c), and what prints its keys and themes (look.c), knows ui.
shown='src/commands/(screen|look)\.[ch]'
lines=$(includes src/commands | grep -E ': "ui/' | grep -vE "^$shown:") && fail "$(echo "$lines" | sed 's/: "/: must not include "/; s/$/"/')"
lines=$(includes src/main.c | grep -vE ': ("(base|core|settings|commands)/|"process/jq_worker|<)') &&
    fail "$(echo "$lines" | sed 's/: "/: must not include "/; s/$/"/')"

home PCRE2 'pcre2' 'src/core/filter/[^:]*'
home lz4 'lz4' 'src/core/backlog/[^:]*'
home jansson 'jansson' 'src/core/json/[^:]*'
home libpq 'libpq|postgres' 'src/store/[^:]*'
home librdkafka 'librdkafka' 'src/broker/[^:]*'
home ncurses 'n?curses|term\.h|panel' 'ui/term/[^:]*'
home libconfuse 'confuse' 'src/settings/config_text\.c'
home libyaml 'yaml\.h' 'src/settings/policies_yaml\.c'
home libmicrohttpd 'microhttpd' 'src/http/server\.c'
home libcurl 'curl' 'src/http/client\.c'
home libjq 'jq\.h|jv\.h' 'src/process/jq_worker\.c'
home pthread 'pthread|threads\.h' 'src/async/[^:]*'

hidden PCRE2 'pcre2_|PCRE2_' none
hidden lz4 'LZ4' none
hidden jansson 'json_t([^[:alnum:]_]|$)' none
hidden libpq 'PGconn|PGresult' 'src/store/(pg|events/(reader|preview_rows)|operations/slot_row)\.h'
hidden librdkafka 'rd_kafka_' 'src/broker/(kafka|probe/private)\.h'
hidden ncurses 'WINDOW|chtype|cchar_t' none
hidden libconfuse 'cfg_t|cfg_opt_t' none
hidden libyaml 'yaml_[a-z_]*_t' none
hidden libmicrohttpd 'MHD_' none
hidden libcurl 'CURL|curl_' none
hidden libjq 'jq_state|jv_|jv([^[:alnum:]_]|$)' none
hidden pthread 'pthread_' none

# What comments and documents may name: texts of ours, without what tests feed the program.
texts()
{
    grep -rHI --exclude-dir=cases --exclude-dir=corpus --exclude-dir=golden "$@" \
        src ui tests themes keymaps monitoring README.md CONTRIBUTING.md Makefile 2>/dev/null
}

# documents: every Markdown file that is named is in the repository: from its root, beside the file that names it, or anywhere under
# that name. Addresses on the web are left alone.
documents()
{
    local known file line name
    known=$(find . -path ./build -prune -o -name '*.md' -print | sed 's|.*/||')
    while IFS=: read -r file line name; do
        case $name in
        //*) continue ;;
        */*) [ ! -f "$name" ] && [ ! -f "$(dirname "$file")/$name" ] || continue ;;
        *) ! grep -qxF "$name" <<<"$known" || continue ;;
        esac
        fail "$file:$line: names $name, which is not in the repository"
    done < <(texts -noE '[A-Za-z0-9_./-]*[A-Za-z0-9_-]\.md\b')
}

# headings DOCUMENT: what is quoted behind its name is one of its headings. A comment may break the line anywhere.
headings()
{
    local file heading
    while read -r file; do
        while read -r heading; do
            grep -qxE "#+ $heading" "$1" || fail "$file: ${1##*/} has no heading \"$heading\""
        done < <(sed -E 's~^[[:space:]]*(//|--|#)[[:space:]]*~~' "$file" | tr '\n' ' ' |
            grep -oE "${1##*/}, \"[^\"]*\"( and \"[^\"]*\")*" | grep -oE '"[^"]*"' | tr -d '"')
    done < <(texts -l "${1##*/},")
}

documents
headings src/publish/PROTOCOL.md

[ $status -ne 0 ] || echo "layers: every include points the right way"
exit $status
