#!/usr/bin/env bash
# layers.sh [ROOT]: fails where a file includes what its folder may not see, or a library outside its home. The folders and
# arrows are those of CONTRIBUTING.md.
set -eu
cd "${1:-$(dirname "$0")/../..}"
status=0

# may FILES… : PATTERN, which the "quoted" and <library> includes of these files must match.
may()
{
    local allowed=$1 lines
    shift
    lines=$(grep -rHnE '^[[:space:]]*#[[:space:]]*include' --include='*.[ch]' "$@" 2>/dev/null |
        sed -nE 's/^([^:]*:[0-9]+):[^"<]*(["<][^">]*)[">].*/\1: \2/p' |
        grep -vE ": (\"($allowed)|<)") || return 0
    echo "$lines" | sed 's/: "/: must not include "/; s/$/"/'
    status=1
}

# home LIBRARY HEADERS PATHS: only files that match PATHS include HEADERS.
home()
{
    local lines
    lines=$(grep -rHnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*<($2)" src ui | grep -vE "^($3):") || return 0
    echo "$lines" | while IFS=: read -r file line _; do
        echo "$file:$line: $1 is at home in $(echo "$3" | sed 's/\\//g; s/\[^:\]\*//g; s/|/, /g')"
    done
    status=1
}

may 'base/' src/base
may '(base|core)/' src/core
may '(base|core|async)/' src/async
may '(base|core|store)/' src/store
may '(base|core|broker)/' src/broker
may '(base|core|store|broker|engine|async)/' src/engine
may '(base|core|async|ui)/' ui
may '[a-z_]+\.(h|def)|base/' $(ls src/*.[ch] | grep -v '/main\.c$')
# Only what opens the screen (screen*.c), and what prints its keys and themes (look.c), knows ui.
may '[a-z_]+\.(h|def)|(base|core|store|broker|engine|commands)/' $(ls src/commands/*.[ch] |
    grep -vE '/(screen|look)[a-z_]*\.[ch]$')
may '[a-z_]+\.h|(base|core|commands)/' src/main.c

home PCRE2 'pcre2' 'src/core/pattern\.c'
home lz4 'lz4' 'src/core/texts\.c'
home jansson 'jansson' 'src/core/value\.c'
home libpq 'libpq|postgres' 'src/store/[^:]*'
home librdkafka 'librdkafka' 'src/broker/[^:]*'
home ncurses 'n?curses|term\.h|panel' 'ui/term\.c|ui/terminfo\.c'
home libconfuse 'confuse' 'src/base/config_text\.c|src/settings_files\.c|src/commands/rules_file\.c|ui/keymap\.c|ui/theme\.c'
home pthread 'pthread|threads\.h' 'src/async/[^:]*'

[ $status -ne 0 ] || echo "layers: every include points the right way"
exit $status
