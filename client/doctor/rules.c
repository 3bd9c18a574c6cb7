/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.c - see the header.
 */
#include "client/doctor/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

#define LOSES_WRITES "a crash of the database loses writes that callers were told are stored"
#define GIB (1024.0 * 1024 * 1024)

static const struct rule postgres_rules[] = {
    { "fsync", RULE_IS, "off", 0, SEVERITY_PROBLEM, LOSES_WRITES,
        "psql -c \"alter system set fsync = on\" -c \"select pg_reload_conf()\"" },
    { "full_page_writes", RULE_IS, "off", 0, SEVERITY_PROBLEM,
        "a power cut leaves pages that are half old and half new, and the database is damaged",
        "psql -c \"alter system set full_page_writes = on\" -c \"select pg_reload_conf()\"" },
    { "synchronous_commit", RULE_IS, "off", 0, SEVERITY_PROBLEM, LOSES_WRITES,
        "psql -c \"alter system set synchronous_commit = on\" -c \"select pg_reload_conf()\"; look at "
        "settings of the "
        "role and the database too: psql -c '\\drds'" },
    { "default_transaction_isolation", RULE_IS_NOT, "read committed", 0, SEVERITY_NOTE,
        "the programs set what they need in their own sessions, but other programs and psql run with it",
        "psql -c \"alter system reset default_transaction_isolation\" -c \"select pg_reload_conf()\"; look "
        "at "
        "settings of the role and the database too: psql -c '\\drds'" },
    { "collation_version", RULE_IS, "changed", 0, SEVERITY_NOTE,
        "the system's library of collations is another one than when the database was made: keys of Tavola "
        "are compared as bytes and stay right, indexes of other schemas may be wrong",
        "psql -c \"reindex database NAME\" -c \"alter database NAME refresh collation version\"" },
    { "connections_left_for_one_more", RULE_BELOW, NULL, 0, SEVERITY_PROBLEM,
        "a server and a worker with these numbers of threads need so many connections more than PostgreSQL "
        "allows: some of their threads get none",
        "psql -c \"alter system set max_connections = 200\", then restart PostgreSQL; or lower "
        "TAVOLA_READ_THREADS, TAVOLA_WRITE_THREADS, TAVOLA_PAGE_THREADS or TAVOLA_WORKER_THREADS" },
    { "autovacuum", RULE_IS, "off", 0, SEVERITY_PROBLEM,
        "dead rows stay: the database grows without end, and everything becomes slower",
        "psql -c \"alter system set autovacuum = on\" -c \"select pg_reload_conf()\"" },
    { "track_counts", RULE_IS, "off", 0, SEVERITY_PROBLEM, "autovacuum does not know what it has to clean",
        "psql -c \"alter system set track_counts = on\" -c \"select pg_reload_conf()\"" },
    { "data_checksums", RULE_IS, "off", 0, SEVERITY_NOTE,
        "a page that the storage has damaged is read as if it were right",
        "stop the database, then run pg_checksums --enable -D DATA_FOLDER" },
    { "shared_buffers", RULE_BELOW, NULL, GIB / 8, SEVERITY_WARNING,
        "rows in use do not stay in memory; 128 MB is the default for small machines",
        "psql -c \"alter system set shared_buffers = '2GB'\" (a quarter of the machine's memory), then "
        "restart "
        "PostgreSQL" },
    { "max_wal_size", RULE_BELOW, NULL, GIB, SEVERITY_WARNING,
        "under load checkpoints come one after the other, and the slowest calls take long",
        "psql -c \"alter system set max_wal_size = '4GB'\" -c \"select pg_reload_conf()\"" },
    { "min_wal_size", RULE_BELOW, NULL, GIB / 2, SEVERITY_NOTE,
        "after a quiet time few files of the write-ahead log are kept; under load new ones are filled with "
        "zeros "
        "first, and all writes wait for 10 to 40 ms each time",
        "psql -c \"alter system set min_wal_size = '1GB'\" -c \"select pg_reload_conf()\"" },
    { "free_connections", RULE_BELOW, NULL, 16, SEVERITY_WARNING,
        "a server or worker that is started, or connects again, may be refused",
        "psql -c \"alter system set max_connections = 200\", then restart PostgreSQL; psql -c \"select "
        "usename, "
        "application_name, count(*) from pg_stat_activity group by 1, 2\" shows who holds them" },
    { "oldest_transaction", RULE_ABOVE, NULL, 300, SEVERITY_WARNING,
        "while a transaction is open (for so many seconds), no dead row is removed from any table",
        "psql -c \"select pid, usename, application_name, xact_start, left(query, 60) from pg_stat_activity "
        "order by "
        "xact_start limit 5\"; end what is forgotten: select pg_terminate_backend(PID)" },
    { "oldest_prepared_transaction", RULE_ABOVE, NULL, 60, SEVERITY_WARNING,
        "Tavola prepares no transactions; one that is forgotten keeps dead rows and locks for ever",
        "psql -c \"select gid, prepared, owner from pg_prepared_xacts\"; then rollback prepared 'GID'" },
    { "slot_behind", RULE_ABOVE, NULL, 4 * GIB, SEVERITY_WARNING,
        "a replication slot that nobody reads keeps the write-ahead log (so many bytes) until the disk is "
        "full",
        "psql -c \"select slot_name, active, restart_lsn from pg_replication_slots\"; then select "
        "pg_drop_replication_slot('NAME')" },
    { "standby_behind", RULE_ABOVE, NULL, GIB / 4, SEVERITY_WARNING,
        "a standby is so many bytes behind: a fail-over to it would take long, or lose writes if it is "
        "asynchronous",
        "look at the standby's machine and network: psql -c \"select * from pg_stat_replication\"" },
    { "transaction_ids_used", RULE_ABOVE, NULL, 1e9, SEVERITY_PROBLEM,
        "at two thousand million transactions without a complete vacuum PostgreSQL refuses all writes",
        "end old transactions, then psql -c \"vacuum (freeze)\"" },
    { "dead_rows_percent", RULE_ABOVE, NULL, 30, SEVERITY_WARNING,
        "vacuum is behind: reads look at many rows that are no more",
        "psql -c \"vacuum (analyze)\"; look for an old transaction" },
    { "intents_empty_bytes", RULE_ABOVE, NULL, GIB, SEVERITY_WARNING,
        "after a long outage of the workers the table of intents has so many empty bytes that they all read "
        "past",
        "psql -c \"vacuum full intents\" in a quiet moment: writes to indexed tables wait meanwhile" },
};

static const struct rule redis_rules[] = {
    { "maxmemory_policy", RULE_IS_NOT, "noeviction", 0, SEVERITY_PROBLEM,
        "Redis may throw away messages: the relay publishes them again seconds later, and indexes are late",
        "redis-cli config set maxmemory-policy noeviction; redis-cli config rewrite" },
    { "used_memory_percent", RULE_ABOVE, NULL, 90, SEVERITY_WARNING,
        "a full Redis refuses messages, and workers fall back to polling PostgreSQL",
        "redis-cli config set maxmemory 0, or give it more memory; redis-cli --bigkeys shows what fills it" },
    { "evicted_keys", RULE_ABOVE, NULL, 0, SEVERITY_WARNING,
        "messages were thrown away since Redis was started, or since its counts were reset",
        "redis-cli config set maxmemory-policy noeviction; then redis-cli config resetstat, to see whether "
        "it goes "
        "on" },
    { "role", RULE_IS_NOT, "master", 0, SEVERITY_PROBLEM, "this Redis takes no writes",
        "name the master in TAVOLA_REDIS, or the Sentinels: sentinel://HOST:26379/MASTER" },
    { "loading", RULE_IS_NOT, "0", 0, SEVERITY_WARNING,
        "Redis reads its data from disk and answers nothing else", "wait for it" },
    { "rdb_last_bgsave_status", RULE_IS_NOT, "ok", 0, SEVERITY_WARNING,
        "Redis could not write its snapshot, and refuses writes until it can",
        "redis-cli config set save '' (Tavola does not need snapshots); or make room on its disk, then "
        "redis-cli bgsave" },
    { "aof_last_write_status", RULE_IS_NOT, "ok", 0, SEVERITY_WARNING,
        "Redis could not write its append-only file, and refuses writes until it can",
        "redis-cli config set appendonly no (Tavola does not need it), or make room on its disk" },
    { "redis_version", RULE_BELOW, NULL, 6, SEVERITY_WARNING,
        "the tests run with Redis 7; older ones than 6 were never tried", "upgrade Redis" },
};

static const struct rule disk_rules[] = {
    { "disk_free_percent", RULE_BELOW, NULL, 10, SEVERITY_WARNING,
        "a database whose disk is full takes no writes, and may stop",
        "make the database's disk larger, or remove what else is on it; psql -c \"select "
        "pg_size_pretty(pg_database_size(current_database()))\" shows what the data take" },
    { "disk_free_percent_of_max_wal_size", RULE_BELOW, NULL, 200, SEVERITY_PROBLEM,
        "under load the write-ahead log grows to max_wal_size and beyond: a full disk stops the database",
        "make the database's disk larger, or: psql -c \"alter system set max_wal_size = '1GB'\" -c \"select "
        "pg_reload_conf()\"" },
};

const struct rules rules_of_disk = { "PostgreSQL", disk_rules, ARRAY_LEN(disk_rules) };
const struct rules rules_of_postgres = { "PostgreSQL", postgres_rules, ARRAY_LEN(postgres_rules) };
const struct rules rules_of_redis = { "Redis", redis_rules, ARRAY_LEN(redis_rules) };

struct str rules_fact(const struct facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->count; i++)
        if (str_equal(facts->items[i].name, str_of(name)))
            return facts->items[i].value;
    return STR_EMPTY;
}

/* The number at the beginning of a text: 7 for "7.0.15". */
static double number_of(struct str text)
{
    char digits[32];
    size_t len = text.len < sizeof(digits) ? text.len : sizeof(digits) - 1;

    memcpy(digits, text.data, len);
    digits[len] = '\0';
    return strtod(digits, NULL);
}

static bool is_finding(const struct rule *rule, struct str value)
{
    switch (rule->test) {
    case RULE_IS:
        return str_equal(value, str_of(rule->text));
    case RULE_IS_NOT:
        return !str_equal(value, str_of(rule->text));
    case RULE_ABOVE:
        return number_of(value) > rule->number;
    case RULE_BELOW:
        return number_of(value) < rule->number;
    }
    return false;
}

void rules_apply(const struct rules *rules, const struct facts *facts, struct findings *out)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct rule *rule = &rules->items[i];
        struct str value = rules_fact(facts, rule->fact);
        struct finding finding = { .part = str_of(rules->part) };
        char what[160];

        if (value.len == 0)
            continue;
        snprintf(
            what, sizeof(what), "%s is %.*s", rule->fact, (int)(value.len < 80 ? value.len : 80), value.data);
        finding.what = str_of(what);
        if (is_finding(rule, value)) {
            finding.severity = rule->severity;
            finding.why = str_of(rule->why);
            finding.remedy = str_of(rule->remedy);
        }
        findings_add(out, &finding);
    }
}

/* ---- INFO of Redis ---- */

static void add_used_memory(struct facts *facts, struct arena *arena)
{
    double limit = number_of(rules_fact(facts, "maxmemory"));
    char percent[32];

    if (limit <= 0)
        return;
    snprintf(percent, sizeof(percent), "%.0f", 100 * number_of(rules_fact(facts, "used_memory")) / limit);
    facts->items[facts->count].name = STR_LITERAL("used_memory_percent");
    facts->items[facts->count++].value = arena_copy(arena, str_of(percent));
}

void rules_read_info(struct str info, struct arena *arena, struct facts *out)
{
    size_t lines = 1;

    for (size_t i = 0; i < info.len; i++)
        lines += info.data[i] == '\n';
    *out = (struct facts){ .items = ARENA_ARRAY(arena, struct fact, lines + 1) };
    while (info.len > 0) {
        struct str line = str_take(&info, '\n'), name = str_take(&line, ':');

        if (line.len > 0 && line.data[line.len - 1] == '\r')
            line.len--;
        if (line.len > 0)
            out->items[out->count++] = (struct fact){ arena_copy(arena, name), arena_copy(arena, line) };
    }
    add_used_memory(out, arena);
}
