// main: from the command line to a command.
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/text.h"
#include "commands/cli/arguments.h"
#include "commands/cli/command.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/help.h"
#include "commands/cli/output.h"
#include "core/category.h"
#include "core/fingerprint/rules.h"
#include "process/jq_worker.h"

#ifdef __SANITIZE_ADDRESS__
#define IS_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED
#endif
#endif

// Keeps payloads and secrets out of core files and out of sight of other processes, and our files private.
static void
harden_process(void)
{
    umask(077);
#ifndef IS_SANITIZED
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); // the leak checker looks at its own process as a debugger would
#endif
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

static bool
is_colored(const struct call *call)
{
    const char *no_color = getenv("NO_COLOR");
    return call->out_is_terminal && (no_color == NULL || no_color[0] == '\0') &&
           strcmp(call->settings.screen.color, "mono") != 0;
}

static void
say_error(const struct err *err)
{
    struct strbuf line = {0};
    text_visible(&line, bytes_of(err->text), false);
    fprintf(stderr, "redrive: %s\n", strbuf_text(&line));
    strbuf_release(&line);
}

// Prints --help, --version, --generate, which need no settings. False: none of these options was given.
static bool
print_asked(const struct call *call, struct err *err)
{
    struct strbuf text = {0};
    const struct options *options = &call->options;
    bool is_asked = options->general.help || options->general.version || options->general.generate != NULL;
    bool ok = true;
    if (options->general.help && call->command == &commands[0])
        help_program(&text);
    else if (options->general.help)
        help_command(call->command, &text);
    else if (options->general.version)
        help_version(&text);
    else if (is_asked)
        ok = help_generate(options->general.generate, &text, err);
    if (ok && is_asked)
        ok = output_bytes(strbuf_bytes(&text), err) && output_flush(err);
    strbuf_release(&text);
    return is_asked || !ok;
}

static int
main_run(int argc, char **argv, struct err *err)
{
    struct call call = {.in_is_terminal = isatty(STDIN_FILENO) == 1,
                        .out_is_terminal = isatty(STDOUT_FILENO) == 1,
                        .err_is_terminal = isatty(STDERR_FILENO) == 1};
    int status = STATUS_USAGE;
    bool ok = arguments_parse(argc, argv, &call, err);
    struct settings_request request = options_request(&call.options);
    if (ok && print_asked(&call, err))
        status = command_status(err);
    else if (ok && settings_load(&call.settings, &request, err)) {
        call.has_color = is_colored(&call);
        status = call.command->run(&call, err);
        bool is_written = err_is_set(err) || output_flush(err);
        if (status == STATUS_DONE && (!is_written || err_is_set(err)))
            status = command_status(err);
    }
    category_rules_destroy(call.rules);
    group_rules_destroy(call.group_rules);
    settings_release(&call.settings);
    options_release(&call.options);
    return status;
}

int
main(int argc, char **argv)
{
    struct err err = {0};
    setlocale(LC_CTYPE, ""); // not LC_NUMERIC: numbers of ours have a point in every country
    harden_process();
    if (jq_worker_is_meant(argc, argv))
        return jq_worker_run(argv);
    interrupt_exit();
    int status = main_run(argc, argv, &err);
    if (err_is_set(&err)) {
        fflush(stdout);
        say_error(&err);
    }
    return status;
}
