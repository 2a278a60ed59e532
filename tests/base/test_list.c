/* The list whose links live in its members. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/list.h"

struct item {
    int number;
    struct list link;
};

static void fill(struct list *head, struct item *items, int from, int to)
{
    list_init(head);
    for (int i = from; i < to; i++) {
        items[i].number = i;
        list_push_back(head, &items[i].link);
    }
}

/* The numbers of the members as digits, forwards; checks the way back too. */
static int digits(struct list *head)
{
    int forwards = 0, backwards = 0, place = 1;
    for (struct list *link = head->next; link != head; link = link->next)
        forwards = forwards * 10 + list_entry(link, struct item, link)->number;
    for (struct list *link = head->prev; link != head; link = link->prev, place *= 10)
        backwards += list_entry(link, struct item, link)->number * place;
    assert_int_equal(forwards, backwards);
    return forwards;
}

static void members_stay_in_the_order_in_which_they_came(void **state)
{
    struct list head;
    struct item items[6];
    fill(&head, items, 1, 6);
    assert_int_equal(digits(&head), 12345);
}

static void a_member_is_removed_from_anywhere_and_twice_is_harmless(void **state)
{
    struct list head;
    struct item items[6];
    fill(&head, items, 1, 6);
    list_remove(&items[3].link);
    list_remove(&items[3].link);
    assert_int_equal(digits(&head), 1245);
    list_remove(&items[1].link);
    list_remove(&items[5].link);
    assert_int_equal(digits(&head), 24);
    assert_true(list_is_empty(&items[3].link));
    list_remove(&items[2].link);
    list_remove(&items[4].link);
    assert_true(list_is_empty(&head));
}

static void the_member_at_hand_may_be_removed_while_walking(void **state)
{
    struct list head;
    struct item items[6];
    int seen = 0;
    fill(&head, items, 1, 6);
    list_for_each (link, &head) {
        struct item *item = list_entry(link, struct item, link);
        seen = seen * 10 + item->number;
        if (item->number % 2)
            list_remove(link);
    }
    assert_int_equal(seen, 12345);
    assert_int_equal(digits(&head), 24);
}

static void all_members_move_to_the_end_of_another_list(void **state)
{
    struct list one, two;
    struct item items[6];
    fill(&one, items, 1, 3);
    fill(&two, items, 3, 6);
    list_move_all(&one, &two);
    assert_int_equal(digits(&one), 12345);
    assert_true(list_is_empty(&two));
    list_move_all(&one, &two); /* nothing to move */
    assert_int_equal(digits(&one), 12345);
    list_move_all(&two, &one);
    assert_int_equal(digits(&two), 12345);
    assert_true(list_is_empty(&one));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_stay_in_the_order_in_which_they_came),
        cmocka_unit_test(a_member_is_removed_from_anywhere_and_twice_is_harmless),
        cmocka_unit_test(the_member_at_hand_may_be_removed_while_walking),
        cmocka_unit_test(all_members_move_to_the_end_of_another_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
