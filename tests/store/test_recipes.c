// Recipes: kept under a name, and tried on events for the screen.
#include "backend_world.h"

#include <unistd.h>
#include "store/operations/recipes.h"

static void
a_recipe_is_kept_replaced_and_forgotten(void **state)
{
    (void)state;
    struct world world;
    struct saved_recipe *list;
    size_t count;
    world_make(&world, 1);
    assert_works(recipe_list(world.store, &world.arena, &list, &count, &err));
    assert_int_equal(count, 0);
    assert_works(recipe_save(world.store, "b.2", "set $.a 1\n", NULL, &err));
    assert_works(recipe_save(world.store, "a-1", "set $.a \"'\\u00e9 $1\"\n", "reviewed", &err));
    assert_works(recipe_save(world.store, "b.2", "set $.a 2\n", "", &err));
    assert_works(recipe_list(world.store, &world.arena, &list, &count, &err));
    assert_int_equal(count, 2);
    assert_string_equal(list[0].name, "a-1");
    assert_string_equal(list[0].text, "set $.a \"'\\u00e9 $1\"\n");
    assert_string_equal(list[0].reason, "reviewed");
    assert_string_equal(list[1].text, "set $.a 2\n");
    assert_null(list[1].reason);
    assert_non_null(list[1].author);
    assert_true(list[1].at > 0);
    assert_works(recipe_forget(world.store, "b.2", "wrong", &err));
    assert_works(recipe_list(world.store, &world.arena, &list, &count, &err));
    assert_int_equal(count, 1);
    // Every text is in the audit.
    assert_string_equal(test_text(world.admin,
                                  "SELECT string_agg(detail, '|' ORDER BY no) FROM redrive.audit "
                                  "WHERE action = 'recipe' AND detail LIKE '%% b.2%%'"),
                        "saved b.2: set $.a 1\n|saved b.2: set $.a 2\n\nbefore: set $.a 1\n|forgot b.2: set "
                        "$.a 2\n");
    world_end(&world);
}

static void
wrong_names_and_texts_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {
        "",    ".a",   "-a",  "a b",
        "a/b", "a\nb", "a\n", "é",
        "$",   "a'; ", NULL,  "01234567890123456789012345678901234567890123456789012345678901234"};
    struct world world;
    world_make(&world, 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_refused(recipe_save(world.store, names[i], "set $.a 1", NULL, &err), ERR_USAGE, "letters");
    assert_refused(recipe_save(world.store, "a", "", NULL, &err), ERR_USAGE, "some text");
    assert_refused(recipe_forget(world.store, "a", NULL, &err), ERR_NOT_FOUND, "no recipe a");
    assert_string_equal(test_text(world.admin, "SELECT count(*) FROM redrive.recipe"), "0");
    assert_string_equal(test_text(world.admin, "SELECT count(*) FROM redrive.audit WHERE action = 'recipe'"),
                        "0");
    world_end(&world);
}

// --- the dry run for the screen ---

static struct request *
try_request(const char *text, int64_t first, size_t count)
{
    struct request *request = request_create(REQUEST_RECIPE_TRY);
    request->recipe.text = strdup(text);
    request->ids = calloc(count + 1, sizeof *request->ids);
    request->id_count = count;
    for (size_t i = 0; i < count; i++)
        request->ids[i] = first + (int64_t)i;
    return request;
}

static bool
is_last_answer(const struct reply *reply, const void *context)
{
    return reply->number == *(const uint64_t *)context && reply->is_last;
}

static struct reply *
try(struct bench *bench, const char *text, int64_t first, size_t count)
{
    uint64_t number = bench_ask(bench, try_request(text, first, count));
    return bench_await(bench, is_last_answer, &number);
}

// 3,000 events: every third has its amount as text, every seventh none. Of the first 100 none is there.
static void
begin_trial(struct bench *bench)
{
    bench_prepare(bench, 3000);
    test_sql(
        bench->world.admin,
        "UPDATE dlq_events SET event_payload = CASE WHEN id %% 7 = 0 THEN '{}'::jsonb WHEN id %% 3 = 0 "
        "THEN jsonb_build_object('amount', '1' || id || ',50') ELSE jsonb_build_object('amount', id) END");
    test_sql(bench->world.admin, "DELETE FROM dlq_events WHERE id <= 100");
    bench->backend = backend_start(&bench->settings, bench->requests, bench->replies);
}

static void
assert_ascending_of(const struct recipe_class *class, int64_t count)
{
    assert_int_equal(class->count, count);
    for (size_t i = 1; i < class->count; i++)
        assert_true(class->ids[i - 1] < class->ids[i]);
}

static void
a_dry_run_tells_every_outcome(void **state)
{
    (void)state;
    struct bench bench;
    begin_trial(&bench);
    struct reply *reply = try(&bench, "to-number $.amount", 1, 3000);
    assert_int_equal(reply->kind, REPLY_RECIPE);
    const struct recipe_trial *trial = &reply->recipe;
    int64_t absent = 3000 / 7 - 100 / 7;
    int64_t texts = (3000 / 3 - 100 / 3) - (3000 / 21 - 100 / 21);
    assert_int_equal(trial->read, 3000);
    assert_int_equal(trial->of, 3000);
    assert_int_equal(trial->tally.gone, 100);
    assert_int_equal(trial->tally.counts[CORRECT_CHANGED], texts);
    assert_int_equal(trial->tally.counts[CORRECT_NOT_APPLICABLE], absent);
    assert_int_equal(trial->tally.counts[CORRECT_UNCHANGED], 2900 - absent - texts);
    assert_int_equal(trial->tally.inexact, texts);
    assert_ascending_of(&trial->classes[CORRECT_CHANGED], texts);
    assert_ascending_of(&trial->classes[CORRECT_NOT_APPLICABLE], absent);
    assert_ascending_of(&trial->classes[CORRECT_UNCHANGED], 2900 - absent - texts);
    assert_string_equal(trial->classes[CORRECT_NOT_APPLICABLE].example, "line 1: $.amount does not exist");
    assert_int_equal(trial->classes[CORRECT_NOT_APPLICABLE].ids[0], 105);
    assert_int_equal(trial->sample_count, TRIAL_SAMPLES);
    for (size_t i = 0; i < trial->sample_count; i++) {
        const struct recipe_sample *sample = &trial->samples[i];
        char after[64];
        snprintf(after, sizeof after, "{\"amount\": 1%d.50}", (int)sample->id);
        assert_int_equal(sample->id % 3, 0);
        assert_true(bytes_equal_text(sample->after, after));
        assert_true(i == 0 || trial->samples[i - 1].id < sample->id);
    }
    assert_true(trial->samples[TRIAL_SAMPLES - 1].id > 1500); // not only the first ones
    struct reply *again = try(&bench, "to-number $.amount", 1, 3000);
    for (size_t i = 0; i < TRIAL_SAMPLES; i++)
        assert_int_equal(again->recipe.samples[i].id, trial->samples[i].id);
    reply_destroy(again);
    reply_destroy(reply);
    assert_string_equal(test_text(bench.world.admin, "SELECT count(*) FROM redrive.revision"), "0");
    bench_end(&bench);
}

// What a second application would change again is told, and what the team's own check would not take.
static void
second_applications_and_checks_are_told(void **state)
{
    (void)state;
    struct bench bench;
    begin_trial(&bench);
    struct reply *reply = try(&bench, "# twice\nadd $.list 1\nset $.a 1", 101, 50);
    assert_int_equal(
        reply->recipe.tally.counts[CORRECT_CHANGED] + reply->recipe.tally.counts[CORRECT_NOT_APPLICABLE], 50);
    assert_int_equal(reply->recipe.tally.again, 0);
    reply_destroy(reply);
    test_sql(bench.world.admin,
             "UPDATE dlq_events SET event_payload = '{\"list\": []}' WHERE id BETWEEN 110 AND 112");
    reply = try(&bench, "# twice\nadd $.list 1", 110, 3);
    assert_int_equal(reply->recipe.tally.counts[CORRECT_CHANGED], 3);
    assert_int_equal(reply->recipe.tally.again, 3);
    assert_int_equal(reply->recipe.tally.again_line, 2);
    reply_destroy(reply);
    backend_stop(bench.backend);
    bench.settings.correct = (struct correct_limits){
        .checks = "type * while read -r line; do case $line in *'\"id\":111,'*) echo too much;; *) echo ok;; "
                  "esac; done",
        .check = {.time = 5 * US_PER_SECOND, .start = 5 * US_PER_SECOND, .processes = 1}};
    mailbox_destroy(bench.requests, request_drop);
    mailbox_destroy(bench.replies, reply_drop);
    bench.requests = mailbox_create(256);
    bench.replies = mailbox_create(64);
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
    reply = try(&bench, "set $.a 1", 110, 3);
    assert_int_equal(reply->kind, REPLY_RECIPE);
    assert_int_equal(reply->recipe.tally.counts[CORRECT_CHANGED], 2);
    assert_int_equal(reply->recipe.tally.counts[CORRECT_REFUSED], 1);
    assert_int_equal(reply->recipe.classes[CORRECT_REFUSED].ids[0], 111);
    assert_string_equal(reply->recipe.classes[CORRECT_REFUSED].example, "too much");
    reply_destroy(reply);
    bench_end(&bench);
}

static void
a_mistake_is_told_with_its_place(void **state)
{
    (void)state;
    struct bench bench;
    begin_trial(&bench);
    struct reply *reply = try(&bench, "set $.a 1\nset $.b", 101, 5);
    assert_int_equal(reply->kind, REPLY_ERROR);
    assert_int_equal(reply->err.line, 2);
    assert_true(reply->err.column > 0);
    reply_destroy(reply);
    reply = try(&bench, "set $.a 1", 101, 0);
    assert_int_equal(reply->kind, REPLY_RECIPE);
    assert_int_equal(correct_tally_total(&reply->recipe.tally), 0);
    reply_destroy(reply);
    bench_end(&bench);
}

// The one that is replaced ends as stopped, and so does one that is cancelled; the reader answers meanwhile.
static void
a_dry_run_can_be_replaced_and_cancelled(void **state)
{
    (void)state;
    struct bench bench;
    begin_trial(&bench);
    test_sql(bench.world.admin, "BEGIN; LOCK TABLE redrive.revision"); // a dry run waits here
    uint64_t first = bench_ask(&bench, try_request("set $.a 1", 101, 2900));
    uint64_t second = bench_ask(&bench, try_request("set $.a 2", 101, 2900));
    struct reply *reply = bench_await(&bench, is_last_answer, &first);
    assert_int_equal(reply->kind, REPLY_ERROR);
    assert_int_equal(reply->err.kind, ERR_CANCELLED);
    reply_destroy(reply);
    struct request *cancel = request_create(REQUEST_CANCEL);
    cancel->target = second;
    bench_ask(&bench, cancel);
    reply = bench_await(&bench, is_last_answer, &second);
    assert_int_equal(reply->err.kind, ERR_CANCELLED);
    reply_destroy(reply);
    test_sql(bench.world.admin, "ROLLBACK");
    reply = try(&bench, "set $.a 3", 101, 2900);
    assert_int_equal(reply->kind, REPLY_RECIPE);
    assert_int_equal(reply->recipe.tally.counts[CORRECT_CHANGED], 2900);
    reply_destroy(reply);
    bench_end(&bench);
}

// The interrupt that ends a run must not end the one that takes its place.
static void
runs_that_replace_one_another_quickly_end_well(void **state)
{
    (void)state;
    struct bench bench;
    begin_trial(&bench);
    for (int round = 0; round < 40; round++) {
        bench_ask(&bench, try_request("set $.a 1", 101, 1500));
        clock_sleep(round * 1000); // from before it begins until after its end
        struct reply *reply = try(&bench, "set $.a 2", 101, 50);
        assert_int_equal(reply->kind, REPLY_RECIPE);
        assert_int_equal(reply->recipe.tally.counts[CORRECT_CHANGED], 50);
        assert_int_equal(reply->recipe.sample_count, TRIAL_SAMPLES);
        reply_destroy(reply);
    }
    bench_end(&bench);
}

// The end of the screen does not wait for a dry run.
static void
a_backend_ends_during_a_dry_run(void **state)
{
    (void)state;
    struct bench bench;
    begin_trial(&bench);
    test_sql(bench.world.admin, "BEGIN; LOCK TABLE redrive.revision");
    bench_ask(&bench, try_request("set $.a 1", 101, 2900));
    clock_sleep(US_PER_SECOND / 5);
    int64_t begun = clock_mono();
    backend_stop(bench.backend);
    assert_true(clock_mono() - begun < 5 * US_PER_SECOND);
    test_sql(bench.world.admin, "ROLLBACK");
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
    bench_end(&bench);
}

static void
files_are_read_and_wrong_ones_refused(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, 1);
    char name[] = "/tmp/redrive-recipe.XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "set $.a 1\n", 10), 10);
    struct request *request = request_create(REQUEST_RECIPE_FILE);
    request->recipe.name = strdup(name);
    struct reply *reply = bench_answer(&bench, request);
    assert_int_equal(reply->kind, REPLY_RECIPES);
    assert_int_equal(reply->recipes.count, 1);
    assert_string_equal(reply->recipes.list->text, "set $.a 1\n");
    reply_destroy(reply);
    assert_int_equal(write(fd, "\0", 1), 1);
    const struct {
        const char *name, *words;
    } wrong[] = {
        {name, "NUL"}, {"/tmp", "not a file"}, {"/dev/zero", "not a file"}, {"/nowhere/x", "cannot read"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        request = request_create(REQUEST_RECIPE_FILE);
        request->recipe.name = strdup(wrong[i].name);
        reply = bench_answer(&bench, request);
        assert_int_equal(reply->kind, REPLY_ERROR);
        assert_non_null(strstr(reply->err.text, wrong[i].words));
        reply_destroy(reply);
    }
    close(fd);
    unlink(name);
    bench_end(&bench);
}

static void
the_screen_saves_and_lists(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, 1);
    struct request *request = request_create(REQUEST_RECIPE_SAVE);
    request->recipe.name = strdup("amounts");
    request->recipe.text = strdup("set $.a 1\n");
    struct reply *reply = bench_answer(&bench, request);
    assert_int_equal(reply->kind, REPLY_RECIPES);
    assert_int_equal(reply->recipes.count, 1);
    assert_string_equal(reply->news.sentence, "recipe amounts saved");
    reply_destroy(reply);
    reply = bench_answer(&bench, request_create(REQUEST_RECIPES));
    assert_string_equal(reply->recipes.list->name, "amounts");
    reply_destroy(reply);
    request = request_create(REQUEST_RECIPE_SAVE);
    request->recipe.name = strdup("amounts");
    reply = bench_answer(&bench, request);
    assert_string_equal(reply->news.sentence, "recipe amounts forgotten");
    assert_int_equal(reply->recipes.count, 0);
    reply_destroy(reply);
    bench_end(&bench);
}

// A list of given ids: those in the table, whatever their status, the highest first.
static void
given_ids_are_a_list(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, 20);
    test_sql(bench.world.admin,
             "UPDATE dlq_events SET status = 'RESOLVED', resolved_at = now() WHERE id = 5");
    struct request *request = request_create(REQUEST_LIST);
    int64_t given[] = {3, 5, 9};
    request->list = list_query_copy(&(struct list_query){.source = LIST_IDS, .ids = given, .id_count = 3});
    struct reply *reply = bench_answer(&bench, request);
    assert_int_equal(reply->list.count, 3);
    assert_int_equal(reply->list.ids[0], 9);
    assert_int_equal(reply->list.ids[2], 3);
    reply_destroy(reply);
    request = request_create(REQUEST_LIST);
    request->list = list_query_copy(
        &(struct list_query){.source = LIST_IDS, .ids = given, .id_count = 3, .filter = (char[]){"id:5"}});
    uint64_t number = bench_ask(&bench, request);
    int64_t found = 0;
    for (bool is_over = false; !is_over; reply_destroy(reply)) {
        reply = bench_await(&bench, is_answer, &number);
        assert_int_equal(reply->kind, REPLY_LIST);
        for (size_t i = 0; i < reply->list.count; i++)
            found += reply->list.ids[i];
        is_over = reply->is_last;
    }
    assert_int_equal(found, 5);
    bench_end(&bench);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recipe_is_kept_replaced_and_forgotten),
        cmocka_unit_test(wrong_names_and_texts_are_refused),
        cmocka_unit_test(a_dry_run_tells_every_outcome),
        cmocka_unit_test(second_applications_and_checks_are_told),
        cmocka_unit_test(a_mistake_is_told_with_its_place),
        cmocka_unit_test(a_dry_run_can_be_replaced_and_cancelled),
        cmocka_unit_test(runs_that_replace_one_another_quickly_end_well),
        cmocka_unit_test(a_backend_ends_during_a_dry_run),
        cmocka_unit_test(files_are_read_and_wrong_ones_refused),
        cmocka_unit_test(the_screen_saves_and_lists),
        cmocka_unit_test(given_ids_are_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
