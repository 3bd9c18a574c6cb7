/* SPDX-License-Identifier: Apache-2.0 */
/*
 * orders.c - an order system: orders by customer, found by status and by day, and moved to an archive.
 *
 *     cc -o orders orders.c $(pkg-config --cflags --libs tavola) && TAVOLA_TARGET=127.0.0.1:50051 ./orders
 */
#include <stdio.h>
#include <stdlib.h>
#include <tavola.h>

static struct tavola_error error;

/* The end of a program for which any failure is the end. */
static void check(enum tavola_code code)
{
    if (code == TAVOLA_OK)
        return;
    fprintf(stderr, "%s %s: %s\n", tavola_code_name(code), error.reason, error.message);
    exit(EXIT_FAILURE);
}

static struct tavola_entity *new_order(
    const char *customer, const char *number, const char *day, double total)
{
    struct tavola_entity *order = tavola_entity_new(TAVOLA_KEY(customer, number));

    tavola_entity_set_string(order, "Status", "open");
    tavola_entity_set_string(order, "Day", day);
    tavola_entity_set_double(order, "Total", total);
    return order;
}

/* Print what a cursor finds, and end it. */
static void print_orders(const char *title, struct tavola_cursor *cursor)
{
    const struct tavola_entity *order;

    printf("%s:\n", title);
    while (tavola_cursor_next(cursor, &order, &error))
        printf("  %s %s %s %.2f\n", tavola_entity_key(order).partition, tavola_entity_key(order).row,
            tavola_entity_string(order, "Status", "?"), tavola_entity_double(order, "Total", 0));
    check(error.code);
    tavola_cursor_free(cursor);
}

static void declare_tables(struct tavola *client)
{
    const char *by_status[] = { "Status", "Day", NULL }, *by_day[] = { "Day", NULL };
    const struct tavola_index indexes[] = {
        { .name = "OrdersByStatus", .table = "Orders", .by = by_status },
        { .name = "OrdersByDay", .table = "Orders", .by = by_day },
    };

    check(tavola_create_table(client, "Orders", &error));
    check(tavola_create_table(client, "Archive", &error));
    for (int i = 0; i < 2; i++)
        check(tavola_create_index(client, &indexes[i], 60000, &error));
}

static void write_orders(struct tavola *client, struct tavola_written *last)
{
    struct tavola_write_options options = { .written = last };
    struct tavola_entity *orders[] = { new_order("acme", "0001", "2026-11-20", 12.5),
        new_order("acme", "0002", "2026-11-21", 99), new_order("globex", "0001", "2026-11-21", 7.25) };

    for (int i = 0; i < 3; i++)
        check(tavola_write(client, "Orders", TAVOLA_INSERT, orders[i], &options, &error));

    /* Paid, unless another caller has changed the order since it was written. */
    options.if_match = tavola_entity_etag(orders[0]);
    tavola_entity_set_string(orders[0], "Status", "paid");
    check(tavola_write(client, "Orders", TAVOLA_REPLACE, orders[0], &options, &error));
    for (int i = 0; i < 3; i++)
        tavola_entity_free(orders[i]);
}

/* An order is in one table or in the other, whatever happens on the way. */
static void archive_order(struct tavola *client, struct tavola_key key)
{
    struct tavola_transaction *move = tavola_transaction_new(NULL);
    enum tavola_transaction_state state;

    tavola_transaction_move(move, "Orders", key, "Archive", key);
    check(tavola_transaction_submit(client, move, &error));
    check(tavola_transaction_wait(client, tavola_transaction_id(move), 60000, &state, &error));
    printf("archived: %s\n", state == TAVOLA_TRANSACTION_DONE ? "yes" : "no");
    tavola_transaction_free(move);
}

int main(void)
{
    struct tavola *client;
    struct tavola_written last;
    const struct tavola_value paid[] = { TAVOLA_TEXT("paid") }, day[] = { TAVOLA_TEXT("2026-11-21") };
    int64_t count;

    check(tavola_open(NULL, &client, &error));
    declare_tables(client);
    write_orders(client, &last);
    print_orders("of acme", tavola_query(client, &(struct tavola_query){ .table = "Orders",
                                                     .filter = "PartitionKey eq 'acme'" }));
    /* With the token of the last write: the list has that order. */
    print_orders("paid", tavola_lookup(client, &(struct tavola_lookup){ .index = "OrdersByStatus",
                                                   .equals = paid,
                                                   .equals_count = 1,
                                                   .consistency_token = last.consistency_token }));
    /* As of now: the list has all orders. */
    print_orders(
        "of the day", tavola_lookup(client,
                          &(struct tavola_lookup){
                              .index = "OrdersByDay", .equals = day, .equals_count = 1, .latest = true }));
    archive_order(client, TAVOLA_KEY("acme", "0001"));
    check(tavola_count(client, "Orders", NULL, &count, &error));
    printf("left: %lld\n", (long long)count);
    tavola_close(client);
    return EXIT_SUCCESS;
}
