#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <poll.h>
#include <cmocka.h>
#include "async/mailbox.h"
#include "async/thread.h"
#include "base/clock.h"

static bool
is_readable(struct mailbox *mailbox)
{
    struct pollfd fd = {.fd = mailbox_fd(mailbox), .events = POLLIN};
    return poll(&fd, 1, 0) == 1;
}

static void
the_descriptor_is_readable_exactly_while_something_is_inside(void **state)
{
    (void)state;
    struct mailbox *mailbox = mailbox_create(2);
    int first, second, third;
    assert_false(is_readable(mailbox));
    assert_true(mailbox_put(mailbox, &first, 0));
    assert_true(mailbox_put(mailbox, &second, 0));
    assert_false(mailbox_put(mailbox, &third, 1000));
    assert_true(is_readable(mailbox));
    assert_ptr_equal(mailbox_take(mailbox, 0), &first);
    assert_true(is_readable(mailbox));
    assert_ptr_equal(mailbox_take(mailbox, 0), &second);
    assert_false(is_readable(mailbox));
    assert_null(mailbox_take(mailbox, 1000));
    mailbox_destroy(mailbox, NULL);
}

static void
a_closed_one_gives_what_is_inside_and_takes_nothing(void **state)
{
    (void)state;
    struct mailbox *mailbox = mailbox_create(2);
    int inside, late;
    assert_true(mailbox_put(mailbox, &inside, 0));
    mailbox_close(mailbox);
    assert_false(mailbox_put(mailbox, &late, -1));
    assert_ptr_equal(mailbox_take(mailbox, -1), &inside);
    assert_null(mailbox_take(mailbox, -1));
    mailbox_destroy(mailbox, NULL);
}

enum { MESSAGES = 20000 };

static bool
is_third(const void *message)
{
    return (intptr_t)message == 3;
}

static void
what_is_inside_can_be_asked_for(void **state)
{
    (void)state;
    struct mailbox *mailbox = mailbox_create(3);
    assert_false(mailbox_has(mailbox, is_third));
    for (intptr_t i = 1; i <= 3; i++)
        assert_true(mailbox_put(mailbox, (void *)i, 0));
    assert_int_equal((intptr_t)mailbox_take(mailbox, 0), 1);
    assert_true(mailbox_has(mailbox, is_third));
    assert_int_equal((intptr_t)mailbox_take(mailbox, 0), 2);
    assert_int_equal((intptr_t)mailbox_take(mailbox, 0), 3);
    assert_false(mailbox_has(mailbox, is_third));
    mailbox_destroy(mailbox, NULL);
}

static void
give_all(void *context)
{
    for (intptr_t i = 1; i <= MESSAGES; i++)
        mailbox_put(context, (void *)i, -1); // NOLINT(performance-no-int-to-ptr)
}

static void
two_threads_lose_nothing_and_keep_the_order(void **state)
{
    (void)state;
    struct mailbox *mailbox = mailbox_create(16);
    struct thread *giver = thread_start(give_all, mailbox, "giver");
    for (intptr_t i = 1; i <= MESSAGES; i++)
        assert_int_equal((intptr_t)mailbox_take(mailbox, -1), i);
    thread_join(giver);
    assert_true(mailbox_is_empty(mailbox));
    mailbox_destroy(mailbox, NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_descriptor_is_readable_exactly_while_something_is_inside),
        cmocka_unit_test(a_closed_one_gives_what_is_inside_and_takes_nothing),
        cmocka_unit_test(what_is_inside_can_be_asked_for),
        cmocka_unit_test(two_threads_lose_nothing_and_keep_the_order),
    };
    return cmocka_run_group_tests_name("mailbox", tests, NULL, NULL);
}
