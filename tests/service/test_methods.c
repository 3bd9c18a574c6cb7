/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of service/methods.c against the public descriptors: exactly the declared methods are served. */
#include "service/methods.h"

#include <check.h>

#include "base/wire.h"
#include "domain/operations/operation_kinds.h"
#include "proto/public_descriptors.h"
#include "service/handlers/handlers.h"
#include "store/routes.h"

enum { SET_FILE = 1, NAME = 1, FILE_PACKAGE = 2, FILE_SERVICE = 6, SERVICE_METHOD = 2 };
enum { METHOD_CLIENT_STREAMING = 5, METHOD_SERVER_STREAMING = 6 };

static struct arena arena;
static size_t declared;

static void setup(void)
{
    arena_init(&arena);
    declared = 0;
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct wire_field find(struct str message, uint32_t number)
{
    struct wire_field field;

    while (wire_read_field(&message, &field) == WIRE_FIELD) {
        if (field.number == number)
            return field;
    }
    return (struct wire_field){ .bytes = STR_EMPTY };
}

typedef void visit_fn(struct str scope, struct str message);

static void each(struct str scope, struct str message, uint32_t number, visit_fn *visit)
{
    struct wire_field field;

    while (wire_read_field(&message, &field) == WIRE_FIELD) {
        if (field.number == number)
            visit(scope, field.bytes);
    }
}

static enum rpc_kind kind_of(struct str method)
{
    bool client = find(method, METHOD_CLIENT_STREAMING).scalar != 0;
    bool server = find(method, METHOD_SERVER_STREAMING).scalar != 0;

    if (client)
        return server ? RPC_BIDI : RPC_CLIENT_STREAM;
    return server ? RPC_SERVER_STREAM : RPC_UNARY;
}

static void visit_method(struct str service, struct str method)
{
    struct str path = arena_format(&arena, "/%.*s/%.*s", STR_ARG(service), STR_ARG(find(method, NAME).bytes));
    size_t i = 0;

    while (i < method_count && !str_equal(str_of(methods[i]->path), path))
        i++;
    ck_assert_msg(i < method_count, "%.*s is declared and not served", STR_ARG(path));
    ck_assert_int_eq(methods[i]->kind, kind_of(method));
    if (methods[i]->request)
        ck_assert(
            str_equal(str_of_bytes(methods[i]->request->short_name, strlen(methods[i]->request->short_name)),
                arena_format(&arena, "%.*sRequest", STR_ARG(find(method, NAME).bytes))));
    declared++;
}

static void visit_service(struct str package, struct str service)
{
    struct str name = arena_format(&arena, "%.*s.%.*s", STR_ARG(package), STR_ARG(find(service, NAME).bytes));

    ck_assert(methods_have_service(name));
    each(name, service, SERVICE_METHOD, visit_method);
}

static void visit_file(struct str scope, struct str file)
{
    (void)scope;
    each(find(file, FILE_PACKAGE).bytes, file, FILE_SERVICE, visit_service);
}

START_TEST(what_is_declared_is_served)
{
    each(STR_EMPTY, str_of_bytes(public_descriptors, public_descriptors_bytes), SET_FILE, visit_file);

    ck_assert_uint_eq(declared, method_count);
}
END_TEST

START_TEST(every_method_can_be_served)
{
    for (size_t i = 0; i < method_count; i++) {
        ck_assert_ptr_nonnull(methods[i]->events);
        ck_assert_ptr_nonnull(methods[i]->events->message);
        if (methods[i]->events == &operation_call_events)
            ck_assert(
                methods[i]->request && methods[i]->decode &&
                (methods[i]->encode || methods[i] == &list_server_samples_method)); /* its decoder replies */
        if (methods[i]->events == &stream_events)
            ck_assert(methods[i]->request && methods[i]->stream);
        if (methods[i]->kind == RPC_BIDI)
            ck_assert(methods[i]->events->half_closed && methods[i]->events->cancelled);
    }
}
END_TEST

static bool path_ends_with(const char *path, const char *end)
{
    size_t len = strlen(path), end_len = strlen(end);

    return len >= end_len && strcmp(path + len - end_len, end) == 0;
}

/* operation_call.c asserts that the operation of each call has the scope of its method's. */
START_TEST(each_method_says_what_it_needs_and_where_it_waits)
{
    for (size_t i = 0; i < method_count; i++) {
        const struct method *method = methods[i];
        bool is_admin = strstr(method->path, ".AdminService/") != NULL;

        if (!method->request)
            continue;
        ck_assert_msg(
            operation_kind_facts(method->operation)->scope != OPERATION_SCOPE_NONE, "%s", method->path);
        ck_assert_msg(
            (operation_kind_facts(method->operation)->scope == OPERATION_SCOPE_ADMINISTRATOR) == is_admin,
            "%s", method->path);
        ck_assert_msg(routes_find(method->operation)->lane != LANE_NONE ||
                          operation_kind_facts(method->operation)->wait != OPERATION_WAIT_NONE,
            "%s", method->path);
        if (method->operation == OPERATION_GET) /* what a method has whose row does not say */
            ck_assert_msg(path_ends_with(method->path, "/GetEntity") ||
                              path_ends_with(method->path, "/BatchGetEntities"),
                "%s does not say which operation it runs", method->path);
    }
}
END_TEST

START_TEST(services_are_known_by_their_whole_name)
{
    ck_assert(methods_have_service(STR_LITERAL("tavola.v1.EntityService")));
    ck_assert(!methods_have_service(STR_LITERAL("tavola.v1.EntityServic")));
    ck_assert(!methods_have_service(STR_LITERAL("tavola.v1.EntityService/GetEntity")));
    ck_assert(!methods_have_service(STR_EMPTY));
}
END_TEST

Suite *test_methods_suite(void)
{
    Suite *suite = suite_create("methods");
    TCase *tc = tcase_create("methods");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, what_is_declared_is_served);
    tcase_add_test(tc, every_method_can_be_served);
    tcase_add_test(tc, each_method_says_what_it_needs_and_where_it_waits);
    tcase_add_test(tc, services_are_known_by_their_whole_name);
    suite_add_tcase(suite, tc);
    return suite;
}
