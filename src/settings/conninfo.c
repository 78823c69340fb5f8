#include "settings/conninfo.h"

#include <ctype.h>
#include <string.h>

static bool
is_uri(const char *text)
{
    return strncmp(text, "postgresql://", 13) == 0 || strncmp(text, "postgres://", 11) == 0;
}

// As libpq decides in conninfo_array_parse: a URI, or anything with an equals sign, is more than a name.
static bool
is_conninfo(const char *text)
{
    return is_uri(text) || strchr(text, '=') != NULL;
}

static void
add_word(struct strbuf *out, const char *keyword, const char *value)
{
    if (value == NULL)
        return;
    if (out->len > 0)
        strbuf_add_char(out, ' ');
    strbuf_printf(out, "%s='", keyword);
    for (const char *c = value; *c != '\0'; c++) {
        if (*c == '\'' || *c == '\\')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, *c);
    }
    strbuf_add_char(out, '\'');
}

// A parameter behind a URI; libpq lets it win over the same thing in the authority.
static void
add_parameter(struct strbuf *out, bool *first, const char *keyword, const char *value)
{
    if (value == NULL)
        return;
    strbuf_printf(out, "%c%s=", *first ? '?' : '&', keyword);
    *first = false;
    for (const char *c = value; *c != '\0'; c++) {
        if (isalnum((unsigned char)*c) || strchr("-._~", *c) != NULL)
            strbuf_add_char(out, *c);
        else
            strbuf_printf(out, "%%%02X", (unsigned char)*c);
    }
}

static void
print_uri(const struct conninfo_parts *parts, struct strbuf *out)
{
    strbuf_add_text(out, parts->database);
    bool first = strchr(parts->database, '?') == NULL;
    add_parameter(out, &first, "service", parts->service);
    add_parameter(out, &first, "host", parts->host);
    add_parameter(out, &first, "port", parts->port);
    add_parameter(out, &first, "user", parts->user);
    add_parameter(out, &first, "password", parts->password);
}

void
conninfo_print(const struct conninfo_parts *parts, struct strbuf *out)
{
    if (parts->database != NULL && is_uri(parts->database)) {
        print_uri(parts, out);
        return;
    }
    if (parts->database != NULL && is_conninfo(parts->database))
        strbuf_add_text(out, parts->database);
    else
        add_word(out, "dbname", parts->database);
    add_word(out, "service", parts->service);
    add_word(out, "host", parts->host);
    add_word(out, "port", parts->port);
    add_word(out, "user", parts->user);
    add_word(out, "password", parts->password);
}

static bool
is_secret_keyword(const char *word, size_t len)
{
    return (len == 8 && strncmp(word, "password", 8) == 0) ||
           (len == 11 && strncmp(word, "sslpassword", 11) == 0);
}

static bool
uri_has_password(const char *uri)
{
    const char *authority = strstr(uri, "://") + 3;
    const char *at = authority + strcspn(authority, "@/?");
    const char *colon = memchr(authority, ':', (size_t)(at - authority));
    if (*at == '@' && colon != NULL && colon + 1 < at)
        return true;
    const char *word = strchr(uri, '?');
    while (word != NULL) {
        word++;
        if (is_secret_keyword(word, strcspn(word, "=&")))
            return true;
        word = strchr(word, '&');
    }
    return false;
}

// Past a value of a conninfo: quoted by ' with \ as escape, or up to a blank.
static const char *
skip_value(const char *c)
{
    bool is_quoted = *c == '\'';
    if (is_quoted)
        c++;
    while (*c != '\0' && (is_quoted ? *c != '\'' : !isspace((unsigned char)*c))) {
        if (*c == '\\' && c[1] != '\0')
            c++;
        c++;
    }
    return *c == '\'' ? c + 1 : c;
}

bool
conninfo_has_password(const char *database)
{
    if (is_uri(database))
        return uri_has_password(database);
    const char *c = database;
    while (*(c += strspn(c, " \t\r\n\f\v")) != '\0') {
        const char *word = c;
        size_t len = strcspn(c, "= \t\r\n\f\v");
        c += len;
        c += strspn(c, " \t\r\n\f\v");
        if (*c != '=')
            continue;
        if (is_secret_keyword(word, len))
            return true;
        c++;
        c = skip_value(c + strspn(c, " \t\r\n\f\v"));
    }
    return false;
}
