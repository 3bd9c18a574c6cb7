/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_trace_context.c - the header of W3C Trace Context, the stored form, and traces of our own.
 */
#include <check.h>

#include "base/macros.h"
#include "domain/tracing/span.h"

#define ID "0af7651916cd43dd8448eb211c80319c"
#define SPAN "b7ad6b7169203331"
#define ZEROS "0000000000000000"

static const struct header_case {
    const char *text;
    bool want, sampled;
} headers[] = {
    { "00-" ID "-" SPAN "-01", true, true },
    { "00-" ID "-" SPAN "-00", true, false },
    { "00-" ID "-" SPAN "-03", true, true }, /* other flags are for others */
    { "01-" ID "-" SPAN "-01", true, true },
    { "01-" ID "-" SPAN "-01-more", true, true },
    { "01-" ID "-" SPAN "-01more", false, false },
    { "00-" ID "-" SPAN "-01-more", false, false },
    { "ff-" ID "-" SPAN "-01", false, false },
    { "00-" ZEROS ZEROS "-" SPAN "-01", false, false },
    { "00-" ID "-" ZEROS "-01", false, false },
    { "00-" ID "-" SPAN "-0", false, false },
    { "00-" ID "-" SPAN, false, false },
    { "00-0AF7651916cd43dd8448eb211c80319c-" SPAN "-01", false, false },
    { "00-" ID "x" SPAN "-01", false, false },
    { "0g-" ID "-" SPAN "-01", false, false },
    { "", false, false },
};

START_TEST(a_header_is_read_as_the_standard_says)
{
    const struct header_case *c = &headers[_i];
    struct trace_context context = { .is_sampled = false };
    char text[TRACE_ID_TEXT_BYTES];

    ck_assert_msg(trace_context_parse(str_of(c->text), &context) == c->want, "%s", c->text);
    if (!c->want)
        return;
    ck_assert_int_eq(context.is_sampled, c->sampled);
    ck_assert_str_eq(trace_context_format_id(&context, text), ID);
    ck_assert_int_eq(context.span_id[0], 0xb7);
    ck_assert_int_eq(context.span_id[SPAN_ID_BYTES - 1], 0x31);
}
END_TEST

START_TEST(what_is_stored_is_loaded)
{
    struct trace_context context, loaded;
    char stored[TRACE_STORED_BYTES], zeros[TRACE_STORED_BYTES] = { 0 };

    ck_assert(trace_context_parse(str_of("00-" ID "-" SPAN "-01"), &context));
    trace_context_store(&context, stored);
    ck_assert(trace_context_load(str_of_bytes(stored, sizeof(stored)), &loaded));
    ck_assert_mem_eq(loaded.trace_id, context.trace_id, TRACE_ID_BYTES);
    ck_assert_mem_eq(loaded.span_id, context.span_id, SPAN_ID_BYTES);
    ck_assert(loaded.is_sampled);
    ck_assert(!trace_context_load(str_of_bytes(stored, sizeof(stored) - 1), &loaded));
    ck_assert(!trace_context_load(str_of_bytes(zeros, sizeof(zeros)), &loaded));
}
END_TEST

START_TEST(as_many_traces_begin_as_wanted)
{
    int sampled = 0;

    for (uint64_t i = 0; i < 1000; i++)
        sampled += trace_context_begin((const uint64_t[]){ i, i * 1000, i }, 250000).is_sampled;
    ck_assert_int_eq(sampled, 250);
    ck_assert(!trace_context_begin((const uint64_t[]){ 0, 0, 0 }, 0).is_sampled);
    ck_assert(trace_context_begin((const uint64_t[]){ 0, UINT64_MAX, 0 }, 1000000).is_sampled);
}
END_TEST

START_TEST(a_span_below_another_has_it_as_its_parent)
{
    struct trace_context parent;
    struct span span;

    ck_assert(trace_context_parse(str_of("00-" ID "-" SPAN "-01"), &parent));
    span = span_below(&parent, "queue", SPAN_CONSUMER, 0);
    ck_assert_mem_eq(span.context.trace_id, parent.trace_id, TRACE_ID_BYTES);
    ck_assert_mem_eq(span.parent_id, parent.span_id, SPAN_ID_BYTES);
    ck_assert_int_eq(span.context.span_id[0], 1);
    for (int i = 0; i < 2 * MAX_SPAN_ATTRIBUTES; i++)
        span_add_number(&span, "n", i);
    ck_assert_uint_eq(span.attribute_count, MAX_SPAN_ATTRIBUTES);
}
END_TEST

Suite *test_trace_context_suite(void)
{
    Suite *suite = suite_create("trace_context");
    TCase *tc = tcase_create("trace_context");

    tcase_add_loop_test(tc, a_header_is_read_as_the_standard_says, 0, ARRAY_LEN(headers));
    tcase_add_test(tc, what_is_stored_is_loaded);
    tcase_add_test(tc, as_many_traces_begin_as_wanted);
    tcase_add_test(tc, a_span_below_another_has_it_as_its_parent);
    suite_add_tcase(suite, tc);
    return suite;
}
