/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of store/routes.c against domain/operations/operation_kinds.c: every kind has a row in both tables, and the
 * two rows agree. A forgotten row consists of zeros, which is a route to the lane of point reads.
 */
#include "store/routes.h"

#include <check.h>

START_TEST(every_kind_has_a_route)
{
    const struct operation_facts *facts = operation_kind_facts((enum operation_kind)_i);
    const struct route *route = routes_find((enum operation_kind)_i);
    bool has_function = route->run || route->run_observed;

    switch (route->lane) {
    case LANE_READ:
        ck_assert_msg(facts->input == OPERATION_IN_GET, "%s has no route", facts->name);
        break;
    case LANE_WRITE:
        ck_assert_msg(facts->input == OPERATION_IN_WRITE, "%s: the lane runs writes alone", facts->name);
        break;
    case LANE_PAGE:
    case LANE_CHANGE:
    case LANE_BULK:
    case LANE_BLOB:
        ck_assert_msg(has_function, "%s: the route has no function", facts->name);
        ck_assert_msg(!route->run || !route->run_observed, "%s: the route has two functions", facts->name);
        return;
    case LANE_NONE:
        ck_assert_msg(facts->wait != OPERATION_WAIT_NONE && facts->becomes != (enum operation_kind)_i,
            "%s does not wait, so it needs a lane", facts->name);
        break;
    case LANE_SHORT:
    case LANE_LARGE:
    case LANE_LOCKED:
    case LANE_COUNT:
        ck_abort_msg("%s: not a lane that a route names", facts->name);
    }
    ck_assert_msg(!has_function, "%s: the lane does not call the route's function", facts->name);
}
END_TEST

Suite *test_routes_suite(void)
{
    Suite *suite = suite_create("routes");
    TCase *tc = tcase_create("routes");

    tcase_add_loop_test(tc, every_kind_has_a_route, 0, OPERATION_KIND_COUNT);
    suite_add_tcase(suite, tc);
    return suite;
}
