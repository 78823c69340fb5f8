// What another process of the same user sees of one that holds a secret: nothing of its memory. With the
// release build, since one with sanitizers lets its leak checker look inside.
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/clock.h"

#define PROGRAM "build/redrive"

enum { OPENS_MEM = 1, OPENS_MAPS = 2, OPENS_ENVIRON = 4, LETS_TRACE = 8, BROKEN = 100 };

// Root may look into everything: here it is a user like others, and stays one when it runs a program.
static void
give_privileges_up(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if ((geteuid() == 0 && prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED)) ||
        syscall(SYS_capset, &header, none))
        _exit(BROKEN);
}

// Which ways of a process are open.
static int
open_ways(pid_t pid)
{
    static const char *const names[] = {"mem", "maps", "environ"};
    pid_t reader = fork();
    if (reader == 0) {
        int ways = 0;
        char path[60];
        give_privileges_up();
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, names[i]);
            if (open(path, O_RDONLY | O_CLOEXEC) >= 0)
                ways |= 1 << i;
        }
        if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0)
            ways |= LETS_TRACE;
        _exit(ways);
    }
    int status;
    assert_int_equal(waitpid(reader, &status, 0), reader);
    assert_true(WIFEXITED(status));
    assert_int_not_equal(WEXITSTATUS(status), BROKEN);
    return WEXITSTATUS(status);
}

static void
end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

// So that the test can tell open ways from closed ones.
static void
an_ordinary_process_is_open(void **state)
{
    (void)state;
    const int readable = OPENS_MEM | OPENS_MAPS | OPENS_ENVIRON;
    pid_t pid = fork();
    if (pid == 0) {
        give_privileges_up();
        prctl(PR_SET_DUMPABLE, 1); // losing privileges closes them
        for (;;)
            pause();
    }
    int ways = 0;
    for (int i = 0; i < 100 && (ways & readable) != readable; i++) {
        ways = open_ways(pid);
        clock_sleep(20000);
    }
    end_process(pid);
    assert_int_equal(ways & readable, readable);
}

// doctor holds Kafka's password while it looks for a broker that is not there.
static pid_t
start_doctor(const char *password_file)
{
    char property[200];
    snprintf(property, sizeof property, "sasl.password.file=%s", password_file);
    pid_t pid = fork();
    if (pid > 0)
        return pid;
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    give_privileges_up();
    execl(PROGRAM, "redrive", "doctor", "-d", "host=/nowhere", "-b", "127.0.0.1:1", "-X",
          "security.protocol=sasl_plaintext", "-X", "sasl.mechanism=PLAIN", "-X", "sasl.username=app", "-X",
          property, (char *)NULL);
    _exit(BROKEN);
}

static bool
is_redrive(pid_t pid)
{
    char path[60], name[20] = "";
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)pid);
    FILE *file = fopen(path, "r");
    bool is_it = file && fgets(name, sizeof name, file) && strcmp(name, "redrive\n") == 0;
    if (file)
        fclose(file);
    return is_it;
}

static void
a_process_with_a_secret_is_closed(void **state)
{
    (void)state;
    char password_file[] = "/tmp/redrive-ways.XXXXXX";
    if (access(PROGRAM, X_OK) != 0) {
        print_message(PROGRAM " was not built\n");
        skip();
    }
    int fd = mkstemp(password_file);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "right-horse\n", 12), 12);
    close(fd);

    // Closed before anything is read, and for good: from the first look at which they are closed on.
    pid_t pid = start_doctor(password_file);
    int ways = -1;
    for (int i = 0; i < 200 && ways != 0; i++) {
        clock_sleep(20000);
        ways = is_redrive(pid) ? open_ways(pid) : -1;
    }
    clock_sleep(300000);
    int status, later = open_ways(pid);
    pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == 0)
        end_process(pid);
    unlink(password_file);
    assert_int_equal(ended, 0);
    assert_int_equal(ways, 0);
    assert_int_equal(later, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ordinary_process_is_open),
        cmocka_unit_test(a_process_with_a_secret_is_closed),
    };
    return cmocka_run_group_tests_name("process_memory", tests, NULL, NULL);
}
