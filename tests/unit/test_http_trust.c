// http/client: a file of certificates is trusted instead of the system's, not beside them. The system's
// folder is replaced for this process alone, in namespaces of its own; where those are not allowed, it is
// skipped.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/strbuf.h"
#include "http/client.h"
#include "settings/secret.h"
#include "tests/lib/folder.h"
#include "tests/lib/program.h"

static enum MHD_Result
take(void *context, struct MHD_Connection *connection, const char *url, const char *method,
     const char *version, const char *data, size_t *len, void **request)
{
    (void)context;
    (void)url;
    (void)method;
    (void)version;
    (void)data;
    if (*request == NULL || *len > 0) {
        *request = connection;
        *len = 0;
        return MHD_YES;
    }
    struct MHD_Response *response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result queued = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return queued;
}

static bool
write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return ok;
}

// From now on this process alone sees `folder` as the system's.
static bool
replace_system(const char *folder)
{
    char users[60];
    (void)snprintf(users, sizeof users, "%d %d 1", (int)getuid(), (int)getuid());
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_text("/proc/self/uid_map", users) &&
           mount(folder, "/etc/ssl/certs", NULL, MS_BIND, NULL) == 0;
}

static void
a_file_replaces_the_system(void **state)
{
    char folder[] = "/tmp/redrive-trust-XXXXXX", trusted[80], root[100], path[100], out[400], url[60];
    struct strbuf certificate = {0}, key = {0};
    struct err err = {0};
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(
        program_run(out, sizeof out, (const char *[]){"tests/lib/certificates.sh", folder, NULL}), 0);
    (void)snprintf(path, sizeof path, "%s/ca.pem", folder);
    (void)snprintf(trusted, sizeof trusted, "%s/system", folder);
    (void)snprintf(root, sizeof root, "%s/ca-certificates.crt", trusted);
    assert_int_equal(mkdir(trusted, 0700), 0);
    assert_int_equal(link(path, root), 0);
    assert_int_equal(
        program_run(out, sizeof out, (const char *[]){"/usr/bin/openssl", "rehash", trusted, NULL}), 0);
    if (!replace_system(trusted)) {
        folder_remove(folder);
        skip();
    }
    (void)snprintf(path, sizeof path, "%s/server.key", folder);
    assert_true(secret_read_file(path, &key, &err));
    (void)snprintf(path, sizeof path, "%s/server.pem", folder);
    assert_int_equal(chmod(path, 0600), 0);
    assert_true(secret_read_file(path, &certificate, &err));
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_TLS, 0, NULL, NULL, take, NULL, MHD_OPTION_HTTPS_MEM_KEY,
        strbuf_text(&key), MHD_OPTION_HTTPS_MEM_CERT, strbuf_text(&certificate), MHD_OPTION_END);
    assert_non_null(daemon);
    assert_true(http_client_begin(&err));
    (void)snprintf(url, sizeof url, "https://127.0.0.1:%d/",
                   (int)MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    struct http_post post = {.url = url, .type = "text/plain", .body = BYTES("x")};
    if (!http_client_post(&post, &err))
        fail_msg("%s", err.text);
    (void)snprintf(path, sizeof path, "%s/stranger.pem", folder);
    post.ca = path;
    assert_false(http_client_post(&post, &err));
    assert_int_equal(err.kind, ERR_UNREACHABLE);
    assert_non_null(strstr(err.text, "certificate"));
    http_client_end();
    MHD_stop_daemon(daemon);
    strbuf_release(&certificate);
    strbuf_release(&key);
    folder_remove(folder);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_file_replaces_the_system)};
    unsetenv("https_proxy");
    setenv("no_proxy", "127.0.0.1", 1);
    return cmocka_run_group_tests_name("http trust", tests, NULL, NULL);
}
