# awk -f shows_more.awk PICTURE…: the pictures of one view at many sizes, NAME@COLSxROWS.txt. Says which words of a picture the next wider
# or the next higher one does not show; nothing where each shows at least as much.
#
# A word is what is between blanks and has a letter or a digit. It is also found within another word, or wrapped over two lines.
# Left out is what a larger window has a reason to show otherwise:
# - a column that comes in cuts the text of another one: of a cell that is cut the beginning of its first word counts
# - a preview takes rows from its list: where one comes in only the used lines are counted
# - a panel that comes in takes rows from others: of two pages of panels that begin with the same one the number of words counts
# - line 1 gives the outer steps of the breadcrumb up for the name of the database
# - positions ("1-20/57"), what did not fit ("+5 more") and the scale of a chart are about the window itself
# - a placeholder ("<n>") is filled in where there is room for an example
# Of a window over a view counts what is in it.

function read_size(name, parts)
{
    sub(/.*@/, "", name)
    split(name, parts, "x")
    cols = parts[1] + 0
    rows = parts[2] + 0
}

FNR == 1 {
    read_size(FILENAME)
    at = cols "x" rows
    if (!(cols in has_cols)) {
        has_cols[cols] = 1
        widths[++width_count] = cols
    }
    if (!(rows in has_rows)) {
        has_rows[rows] = 1
        heights[++height_count] = rows
    }
    inside = 0
}

FNR == 2 && match($0, /panels? [0-9]+/) { first_panel[at] = substr($0, RSTART + RLENGTH - 2, 2) }

/┌/ {
    inside = has_window[at] = 1
    words[at] = whole[at] = beside[at] = ""
    lines[at] = 0
    next
}

/└/ { inside = 0 }

FNR > 2 && /───────────────────────/ { has_preview[at] = 1 }

FNR > 1 && (inside || !has_window[at]) {
    gsub(/▌|▐|┃|─|▁|▂|▃|▄|▅|▆|▇|█/, " ")
    gsub(/[0-9,]+-[0-9,]+\/[0-9,]+|[0-9]+-[0-9]+ of [0-9]+|[0-9,]+\/[0-9,]+ *$|\+[0-9]+( more)?|seen as:|[0-9]+ hours? a column.*/, " ")
    gsub(/\[?<[a-z]+>?/, "~")
    if ($0 ~ /^ *[0-9,]+ *$/)
        next
    lines[at] += $0 ~ /[^ ]/
    count = split($0, sides, "│")
    if (inside)
        whole[at] = whole[at] take(sides[2])
    else {
        whole[at] = whole[at] take(sides[1])
        for (i = 2; i <= count; i++)
            beside[at] = beside[at] take(sides[i])
    }
}

# Returns the line without its blanks.
function take(line, cells, parts, n, m, i, j)
{
    n = split(line, cells, /   */)
    for (i = 1; i <= n; i++) {
        sub(/^ +/, "", cells[i])
        m = split(cells[i], parts, " ")
        if (cells[i] ~ /…/) {
            sub(/….*/, "", parts[1])
            parts[1] = substr(parts[1], 1, 8)
            is_cut[at, substr(cells[i], 1, 6)] = 1
            m = 1
        }
        for (j = 1; j <= m; j++)
            if (parts[j] ~ /[A-Za-z0-9]/) {
                words[at] = words[at] " " parts[j]
                cells_of[at, parts[j]] = cells_of[at, parts[j]] SUBSEP substr(cells[i], 1, 6)
            }
    }
    gsub(/ /, "", line)
    return line
}

# Or it stands in a cell that is cut now.
function is_shown(word, small, large, starts, n, i)
{
    n = split(cells_of[small, word], starts, SUBSEP)
    for (i = 1; i <= n; i++)
        if ((large, starts[i]) in is_cut)
            return 1
    gsub(/^[][{}",;:()]+|[][{}",;:()]+$/, "", word)
    return index(whole[large], word) > 0 || index(beside[large], word) > 0
}

# How many different words of `one` the other one does not show; the first of them in `missing`.
function missing_of(one, other, list, told, n, i, count)
{
    missing = ""
    n = split(words[one], list, " ")
    for (i = 1; i <= n; i++)
        if (!(list[i] in told) && !is_shown(list[i], one, other)) {
            told[list[i]] = 1
            if (++count <= 12)
                missing = missing " " list[i]
        }
    return count
}

function compare(small, large, count, gained)
{
    if (!(small in words) || !(large in words))
        return
    if (has_preview[large] && !has_preview[small]) {
        if (lines[large] < lines[small])
            printf "%s has %d lines and %s only %d\n", small, lines[small], large, lines[large]
        return
    }
    if (first_panel[small] != first_panel[large])
        return
    gained = first_panel[small] ? missing_of(large, small) : 0
    count = missing_of(small, large)
    if (count > gained)
        printf "%s shows %d words that %s does not:%s\n", small, count, large, missing
}

function sort(list, count, i, j, t)
{
    for (i = 2; i <= count; i++)
        for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
            t = list[j]
            list[j] = list[j - 1]
            list[j - 1] = t
        }
}

END {
    sort(widths, width_count)
    sort(heights, height_count)
    for (h = 1; h <= height_count; h++)
        for (w = 1; w <= width_count; w++) {
            compare(widths[w] "x" heights[h], widths[w + 1] "x" heights[h])
            compare(widths[w] "x" heights[h], widths[w] "x" heights[h + 1])
        }
}
