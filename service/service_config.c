/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_config.c - the table of the server's settings.
 */
#include "service/service_config.h"

#include <stddef.h>
#include <string.h>

#include "domain/transactions/call_url.h"
#include "odata/odata_format.h"
#include "service/admission/memory_bound.h"
#include "service/connect/cors.h"

static const char *const authentications[] = { "required", "none", NULL };
static const char *const switches[] = { "off", "on", NULL };
static const char *const jwt_signatures[] = { "checked", "unchecked", NULL };

static bool is_azure_version(const char *value)
{
    struct error ignored;

    return value[0] && odata_format_check_version(str_of(value), &ignored) == STATUS_OK;
}

/* clang-format off: the rows of the failpoints end with a comma of their own */
static const struct config_setting settings[] = { {
                                                      .name = "TAVOLA_LISTEN",
                                                      .type = CONFIG_STRING,
                                                      .offset = offsetof(struct service_config, listen),
                                                      .fallback = "127.0.0.1:50051",
                                                      .accepts = config_is_address,
                                                      .allowed = CONFIG_ADDRESS_ALLOWED,
                                                      .help = "the address to serve on",
                                                  },
    {
        .name = "TAVOLA_HTTP_LISTEN",
        .type = CONFIG_STRING,
        .offset = offsetof(struct service_config, http_listen),
        .accepts = config_is_address,
        .allowed = CONFIG_ADDRESS_ALLOWED,
        .help = "a second address, which serves the same methods over HTTP/1.1",
    },
    {
        .name = "TAVOLA_AZURE_VERSION",
        .type = CONFIG_STRING,
        .offset = offsetof(struct service_config, azure_version),
        .fallback = "2019-02-02",
        .accepts = is_azure_version,
        .allowed = "a date such as 2019-02-02, not before 2009-07-17",
        .help = "the version of Azure Tables (x-ms-version) of replies over HTTP, if the request has none",
    },
    {
        .name = "TAVOLA_AZURE_REQUEST_IDS",
        .type = CONFIG_CHOICE,
        .offset = offsetof(struct service_config, azure_request_ids),
        .fallback = "off",
        .choices = switches,
        .help =
            "on: x-ms-client-request-id of a write through the Azure Tables door is its request_id, so that "
            "a write that is sent again is not done again",
    },
    {
        .name = "TAVOLA_HTTP_ORIGINS",
        .type = CONFIG_STRING,
        .offset = offsetof(struct service_config, http_origins),
        .accepts = cors_origins_are_valid,
        .allowed = CORS_ORIGINS_ALLOWED,
        .help =
            "pages in browsers that may call TAVOLA_HTTP_LISTEN; when not set those of this machine, if the "
            "address is a loopback one, else none",
    },
    {
        .name = "TAVOLA_HEALTH_LISTEN",
        .type = CONFIG_STRING,
        .offset = offsetof(struct service_config, health_listen),
        .accepts = config_is_address,
        .allowed = CONFIG_ADDRESS_ALLOWED,
        .help = "a second address that answers grpc.health.v1 and nothing else, for probes from outside",
    },
    {
        .name = "TAVOLA_METRICS_LISTEN",
        .type = CONFIG_STRING,
        .offset = offsetof(struct service_config, metrics_listen),
        .accepts = config_is_address,
        .allowed = CONFIG_ADDRESS_ALLOWED,
        .help = "an address that answers GET /metrics over HTTP, for Prometheus",
    },
    {
        .name = "TAVOLA_TLS_CERT",
        .type = CONFIG_STRING,
        .offset = offsetof(struct service_config, tls_certificate),
        .help = "file with this server's certificate chain in PEM: TAVOLA_LISTEN serves TLS; read again when "
                "it changes",
    },
    {
        .name = "TAVOLA_TLS_KEY",
        .type = CONFIG_STRING,
        .offset = offsetof(struct service_config, tls_key),
        .help = "file with the key of TAVOLA_TLS_CERT in PEM",
    },
    {
        .name = "TAVOLA_TLS_CLIENT_CA",
        .type = CONFIG_STRING,
        .offset = offsetof(struct service_config, tls_client_ca),
        .help = "file with certificates in PEM: only callers whose certificate one of them has signed are "
                "let in",
    },
    {
        .name = "TAVOLA_AUTHENTICATION",
        .type = CONFIG_CHOICE,
        .offset = offsetof(struct service_config, authentication),
        .fallback = "required",
        .choices = authentications,
        .help = "required: every call carries a token (tavola token create, tavola sas create); none: every "
                "client "
                "that reaches the address may do everything, only on loopback or a Unix socket",
    },
    {
        .name = "TAVOLA_JWT_KEYS",
        .type = CONFIG_STRING,
        .offset = offsetof(struct service_config, jwt_keys),
        .help = "file with a JSON Web Key Set: bearer tokens (JWT) that one of its keys has signed are taken "
                "beside tokens "
                "of our own; read again when it changes",
    },
    {
        .name = "TAVOLA_JWT_ISSUER",
        .type = CONFIG_STRING,
        .offset = offsetof(struct service_config, jwt_issuer),
        .help = "the issuer (iss) that these tokens must name",
    },
    {
        .name = "TAVOLA_JWT_AUDIENCE",
        .type = CONFIG_STRING,
        .offset = offsetof(struct service_config, jwt_audience),
        .help = "the audience (aud) that these tokens must name",
    },
    {
        .name = "TAVOLA_JWT_SIGNATURES",
        .type = CONFIG_CHOICE,
        .offset = offsetof(struct service_config, jwt_signatures),
        .fallback = "checked",
        .choices = jwt_signatures,
        .help = "unchecked: take these tokens whoever has signed them, for development; only on loopback or "
                "a Unix socket",
    },
    {
        .name = "TAVOLA_WRAPPING_KEY",
        .type = CONFIG_SECRET,
        .offset = offsetof(struct service_config, wrapping_key),
        .help = "64 hexadecimal digits: the keys of accounts are encrypted with it in the database; "
                "up to 4, with spaces between them, of which the first encrypts and all decrypt",
    },
    {
        .name = "TAVOLA_WRAPPING_KEY_FILE",
        .type = CONFIG_STRING,
        .offset = offsetof(struct service_config, wrapping_key_file),
        .help = "file that holds them, in place of TAVOLA_WRAPPING_KEY",
    },
    {
        .name = "TAVOLA_POSTGRES",
        .type = CONFIG_SECRET,
        .offset = offsetof(struct service_config, postgres),
        .required = true,
        .help = "the database: a libpq connection string or postgresql:// URL",
    },
    {
        .name = "TAVOLA_ALLOW_DATA_LOSS",
        .type = CONFIG_CHOICE,
        .offset = offsetof(struct service_config, allow_data_loss),
        .fallback = "off",
        .choices = switches,
        .help =
            "on: work on a database whose settings (fsync, full_page_writes, synchronous_commit) may lose "
            "acknowledged writes; for tests",
    },
    {
        .name = "TAVOLA_REDIS",
        .type = CONFIG_SECRET,
        .offset = offsetof(struct service_config, redis.url),
        .required = true,
        .accepts = redis_url_is_valid,
        .allowed = REDIS_URL_ALLOWED,
        .help = "address of the queue's Redis or its Sentinels; nothing is lost while it is down",
    },
    {
        .name = "TAVOLA_REDIS_CA",
        .type = CONFIG_STRING,
        .offset = offsetof(struct service_config, redis.ca),
        .help = "with rediss:// or sentinels://: the authorities of Redis' certificates (PEM); when not set "
                "those of the system",
    },
    {
        .name = "TAVOLA_REDIS_CERT",
        .type = CONFIG_STRING,
        .offset = offsetof(struct service_config, redis.certificate),
        .help = "client certificate for a Redis that requires one (PEM)",
    },
    {
        .name = "TAVOLA_REDIS_KEY",
        .type = CONFIG_STRING,
        .offset = offsetof(struct service_config, redis.key),
        .help = "the key of TAVOLA_REDIS_CERT (PEM)",
    },
    {
        .name = "TAVOLA_SENTINEL_PASSWORD",
        .type = CONFIG_SECRET,
        .offset = offsetof(struct service_config, redis.sentinel_password),
        .help = "password of the Sentinels, if they require one; that of Redis is in TAVOLA_REDIS",
    },
    {
        .name = "TAVOLA_RPC_THREADS",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, rpc_threads),
        .fallback = "1",
        .min = 1,
        .max = 64,
        .help =
            "threads that always serve calls, and one more while these are busy; more than one helps only if "
            "cores are free and many connections are busy",
    },
    {
        .name = "TAVOLA_READ_THREADS",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, read_threads),
        .fallback = "2",
        .min = 1,
        .max = 16,
        .help = "threads, each with a connection, for reads of single entities",
    },
    {
        .name = "TAVOLA_WRITE_THREADS",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, write_threads),
        .fallback = "2",
        .min = 1,
        .max = 16,
        .help =
            "threads for writes, each with a connection; as many serve large writes of one account at once, "
            "and as many its imports and scans; one more of each serves others",
    },
    {
        .name = "TAVOLA_PAGE_THREADS",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, page_threads),
        .fallback = "2",
        .min = 1,
        .max = 16,
        .help = "threads for queries and look-ups of one account at once, each with a connection; one more "
                "serves others; as many serve short ones",
    },
    {
        .name = "TAVOLA_MAX_WAITING",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, max_waiting),
        .fallback = "16384",
        .min = 1,
        .max = 1000000,
        .help = "operations of one account that may wait in a lane; more are refused as SERVER_BUSY",
    },
    {
        .name = "TAVOLA_SNAPSHOT_SECONDS",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, snapshot_seconds),
        .fallback = "300",
        .min = 1,
        .max = 86400,
        .help = "how long a scan may hold a snapshot; meanwhile vacuum removes no row that it may see",
    },
    {
        .name = "TAVOLA_MAX_SNAPSHOTS",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, max_snapshots),
        .fallback = "2",
        .min = 0,
        .max = 16,
        .help = "snapshots that scans hold at once, each with a connection while it lasts; 0: scans may have "
                "none",
    },
    {
        .name = "TAVOLA_MEMORY_LIMIT",
        .type = CONFIG_STRING,
        .offset = offsetof(struct service_config, memory_limit),
        .accepts = memory_bound_is_valid,
        .allowed = MEMORY_BOUND_ALLOWED,
        .help = "bound of the server's memory; default: four fifths of the cgroup's limit or, if there is "
                "none, 2GB, but at most half of the machine's memory",
    },
    {
        .name = "TAVOLA_MAX_CONNECTIONS",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, max_connections),
        .fallback = "0",
        .min = 0,
        .max = 1000000,
        .help = "open connections; 0: one per 256 kB of the memory limit, within the limit of open files",
    },
    {
        .name = "TAVOLA_MAX_CONNECTIONS_PER_ADDRESS",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, connections_per_address),
        .fallback = "0",
        .min = 0,
        .max = 1000000,
        .help = "connections from one address (IPv6: from one /64) at once; 0: a quarter of all",
    },
    {
        .name = "TAVOLA_FIRST_CALL_TIMEOUT_SECONDS",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, first_call_seconds),
        .fallback = "20",
        .min = 1,
        .max = 3600,
        .unit = "s",
        .help = "a connection is closed if no call on it is answered within this time",
    },
    {
        .name = "TAVOLA_ACCOUNT_RATE_LIMIT",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, rates.per_second[RATE_ACCOUNT]),
        .fallback = "0",
        .min = 0,
        .max = 100000000,
        .unit = "entities per second",
        .help = "the rate at which one account may read and write on this server; 0: no limit",
    },
    {
        .name = "TAVOLA_PARTITION_RATE_LIMIT",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, rates.per_second[RATE_PARTITION]),
        .fallback = "0",
        .min = 0,
        .max = 100000000,
        .unit = "entities per second",
        .help = "the rate at which one partition may be read and written on this server; 0: no limit",
    },
    {
        .name = "TAVOLA_CATALOGUE_RATE_LIMIT",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, rates.per_second[RATE_CATALOGUE]),
        .fallback = "20",
        .min = 0,
        .max = 1000000,
        .unit = "changes per second",
        .help = "the rate at which one account may create, change and delete tables and indexes on this "
                "server, five "
                "seconds' worth at once; 0: no limit",
    },
    {
        .name = "TAVOLA_INFLATED_BYTES_RATE_LIMIT",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, rates.per_second[RATE_INFLATED]),
        .fallback = "33554432",
        .min = 0,
        .max = 10000000000,
        .unit = "bytes per second",
        .help = "the rate at which this server inflates the compressed requests of one account; 0: no limit",
    },
    {
        .name = "TAVOLA_TRACED_RATE_LIMIT",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, rates.per_second[RATE_TRACED]),
        .fallback = "100",
        .min = 0,
        .max = 1000000,
        .unit = "calls per second",
        .help = "the rate at which one account's callers may have calls traced (traceparent) on this server; "
                "calls beyond it are served without a trace; 0: no limit",
    },
    {
        .name = "TAVOLA_MAX_TABLES_PER_ACCOUNT",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, account_tables),
        .fallback = "5000",
        .min = 1,
        .max = 1000000,
        .help = "one more is refused with QUOTA_EXCEEDED; the same for all servers",
    },
    {
        .name = "TAVOLA_MAX_INDEXES_PER_ACCOUNT",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, account_indexes),
        .fallback = "5000",
        .min = 1,
        .max = 1000000,
        .help = "one more is refused with QUOTA_EXCEEDED; the same for all servers",
    },
    {
        .name = "TAVOLA_MAX_ENTITIES_PER_ACCOUNT",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, account_entities),
        .fallback = "0",
        .min = 0,
        .max = INT64_MAX,
        .help = "writes beyond it are refused with QUOTA_EXCEEDED; 0: no quota; the same for all servers",
    },
    {
        .name = "TAVOLA_MAX_BYTES_PER_ACCOUNT",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, account_bytes),
        .fallback = "0",
        .min = 0,
        .max = INT64_MAX,
        .unit = "bytes",
        .help =
            "keys and properties, index entries included; writes beyond it are refused with QUOTA_EXCEEDED; "
            "0: no quota; the same for all servers",
    },
    CHUNK_SETTINGS(struct service_config),
    {
        .name = "TAVOLA_BLOB_THREADS",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, blob_threads),
        .fallback = "4",
        .min = 1,
        .max = 64,
        .help = "threads for chunks of blobs of one account at once, each with a connection, if they may be "
                "in another store than the database; one more serves others",
    },
    {
        .name = "TAVOLA_FILE_ROOT",
        .type = CONFIG_STRING,
        .offset = offsetof(struct service_config, file_root),
        .help =
            "the same as for the workers, which use the directory: while it is not set, transactions with "
            "write_file steps are refused with STEP_NOT_CONFIGURED",
    },
    {
        .name = "TAVOLA_HTTP_CALL_HOSTS",
        .type = CONFIG_STRING,
        .offset = offsetof(struct service_config, http_call_hosts),
        .accepts = call_url_hosts_are_valid,
        .allowed = CALL_URL_HOSTS_ALLOWED,
        .help =
            "the same as for the workers, which call: transactions with http_call steps to other hosts are "
            "refused with STEP_NOT_CONFIGURED",
    },
    {
        .name = "TAVOLA_MAX_BATCH_OPERATIONS",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, batch_operations),
        .fallback = "256",
        .min = 1,
        .max = 1024,
        .help = "the largest number of operations that share one round trip or commit",
    },
    {
        .name = "TAVOLA_COALESCE_REPLIES",
        .type = CONFIG_CHOICE,
        .offset = offsetof(struct service_config, coalesce_replies),
        .fallback = "on",
        .choices = switches,
        .help = "on: replies to one connection that are ready at the same time share packets; off: each has "
                "a packet of its own",
    },
    {
        .name = "TAVOLA_DRAIN_TIMEOUT_SECONDS",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, drain_seconds),
        .fallback = "10",
        .min = 0,
        .max = 3600,
        .unit = "s",
        .help = "how long open calls may go on after SIGTERM",
    },
    {
        .name = "TAVOLA_SLOW_CALL_MS",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, slow_call_ms),
        .fallback = "1000",
        .min = 0,
        .max = 3600000,
        .unit = "ms",
        .help = "calls that take at least so long are logged (event=slow_call) with where their time went; "
                "0: none; after SIGUSR1 every call is logged so (event=call)",
    },
    {
        .name = "TAVOLA_TRACES_PER_MILLION",
        .type = CONFIG_INT,
        .offset = offsetof(struct service_config, traces_per_million),
        .fallback = "0",
        .min = 0,
        .max = 1000000,
        .help = "with a collector: of a million calls without a trace of their own, how many begin one; a "
                "caller's own trace (traceparent) is followed as its flag says",
    },
    TRACE_SETTINGS(struct service_config), LOG_SETTINGS(struct service_config),
    FAILPOINT_SETTINGS(struct service_config) };
/* clang-format on */

const struct config_program service_program = {
    .name = "tavolad",
    .version = TAVOLA_VERSION,
    .summary = "the server of the table service",
    .settings = settings,
    .count = ARRAY_LEN(settings),
};
