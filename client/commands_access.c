/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_access.c - tokens and shared access signatures. Signing needs only an account's key: neither a
 * server nor the database.
 */
#include <assert.h>
#include <string.h>

#include "api/json/json_forms.h"
#include "base/buf.h"
#include "base/clock.h"
#include "client/command.h"
#include "client/time_text.h"
#include "domain/access/credential.h"
#include "domain/catalogue/table_name.h"
#include "domain/limits.h"
#include "domain/ticks.h"

#define CONNECTION_STRING "account connection-string"
#define CONNECTION_ARGUMENTS "ACCOUNT URL"
#define TOKEN_ARGUMENTS "ACCOUNT [SECONDS]"

enum { DEFAULT_LIFETIME_S = 3600 };

static bool read_key(
    const struct client_config *config, const char *words, struct arena *arena, struct account_key *out)
{
    if (config->account_key && account_key_parse(str_of(config->account_key), arena, out))
        return true;
    fprintf(stderr,
        "tavola %s: TAVOLA_ACCOUNT_KEY is not set, or not a key as `tavola account create` prints it\n",
        words);
    return false;
}

static int sign_and_print(
    const struct client_config *config, const char *words, struct credential *credential, struct arena *arena)
{
    struct account_key key;
    struct error err = { 0 };
    struct str text;

    if (!read_key(config, words, arena, &key))
        return COMMAND_MISUSED;
    if (credential_check(credential, &err) != STATUS_OK)
        return command_failed(words, &err);
    text = credential_sign(credential, &key, arena);
    if (text.len > LIMIT_CREDENTIAL_BYTES) {
        fprintf(stderr, "tavola %s: the token would be longer than servers accept\n", words);
        return COMMAND_FAILED;
    }
    printf("%.*s\n", STR_ARG(text));
    return COMMAND_OK;
}

/* ---- account connection-string ---- */

static int print_connection(const struct client_config *config, char *const *words, struct arena *arena)
{
    struct str url = str_of(words[1]);
    const char *protocol = str_starts_with(url, STR_LITERAL("https://")) ? "https" : "http";
    struct account_key key;
    struct buf text;

    if (!account_name_is_valid(str_of(words[0])) || strpbrk(words[1], "; ") ||
        (strncmp(words[1], "https://", 8) != 0 && strncmp(words[1], "http://", 7) != 0))
        return command_misused(CONNECTION_STRING, CONNECTION_ARGUMENTS);
    if (!read_key(config, CONNECTION_STRING, arena, &key))
        return COMMAND_MISUSED;
    while (url.len > 0 && url.data[url.len - 1] == '/')
        url.len--;
    buf_init(&text, arena);
    buf_format(&text, "DefaultEndpointsProtocol=%s;AccountName=%s;AccountKey=", protocol, words[0]);
    json_forms_write_bytes(&text, str_of_bytes(key.bytes, ACCOUNT_KEY_BYTES));
    buf_format(&text, ";TableEndpoint=%.*s/%s", STR_ARG(url), words[0]);
    printf("%.*s\n", STR_ARG(buf_str(&text)));
    return COMMAND_OK;
}

static int run_connection(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = CONNECTION_STRING };
    struct arena arena;
    int exit_code;

    if (!command_arguments(CONNECTION_ARGUMENTS, 2, argc, argv, &arguments))
        return COMMAND_MISUSED;
    arena_init(&arena);
    exit_code = print_connection(config, arguments.words, &arena);
    arena_cleanup(&arena);
    return exit_code;
}

/* ---- token create ---- */

static int run_token(const struct client_config *config, int argc, char **argv)
{
    struct credential credential = { .kind = CREDENTIAL_TOKEN, .issued = clock_ticks() };
    struct arguments arguments = { .command = "token create" };
    char **words = arguments.words;
    struct arena arena;
    int exit_code;

    if (!arguments_read(TOKEN_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count < 1 || arguments.count > 2 ||
        (arguments.count == 2 && !time_text_parse_lifetime(words[1], credential.issued, &credential.expiry)))
        return command_misused("token create", TOKEN_ARGUMENTS);
    credential.account = str_of(words[0]);
    if (arguments.count == 1)
        credential.expiry = credential.issued + DEFAULT_LIFETIME_S * TICKS_PER_SECOND;
    arena_init(&arena);
    exit_code = sign_and_print(config, "token create", &credential, &arena);
    arena_cleanup(&arena);
    return exit_code;
}

#define SAS_CREATE                                                                                           \
    "ACCOUNT TABLE [--permissions LETTERS] [--start TIME] [--expiry TIME] [--policy ID] "                    \
    "[--source ADDRESSES] [--protocol NAME] [--start-partition KEY] [--start-row KEY] "                      \
    "[--end-partition KEY] [--end-row KEY]"

static bool take_expiry(struct credential *out, const char *value)
{
    return time_text_parse(value, out->issued, &out->expiry);
}

static bool take_start(struct credential *out, const char *value)
{
    return time_text_parse(value, out->issued, &out->start);
}

static bool take_permissions(struct credential *out, const char *value)
{
    return access_parse_permissions(str_of(value), &out->permissions) && out->permissions;
}

static bool take_policy(struct credential *out, const char *value)
{
    out->policy = str_of(value);
    return out->policy.len > 0;
}

static bool take_source(struct credential *out, const char *value)
{
    out->has_source = true;
    return network_range_parse(str_of(value), &out->source);
}

static bool take_protocol(struct credential *out, const char *value)
{
    out->tls_only = strcmp(value, "tls") == 0;
    return out->tls_only || strcmp(value, "any") == 0;
}

static bool take_start_partition(struct credential *out, const char *value)
{
    out->range.has_low = true;
    out->range.low.partition = str_of(value);
    return true;
}

static bool take_start_row(struct credential *out, const char *value)
{
    out->range.low.row = str_of(value);
    return out->range.has_low;
}

static bool take_end_partition(struct credential *out, const char *value)
{
    out->range.has_high = true;
    out->range.high.partition = str_of(value);
    return true;
}

static bool take_end_row(struct credential *out, const char *value)
{
    out->range.high_has_row = true;
    out->range.high.row = str_of(value);
    return out->range.has_high;
}

static const struct sas_field {
    const char *name;
    bool (*take)(struct credential *out, const char *value);
    const char *allowed;
} sas_fields[] = {
    { "--permissions", take_permissions, "letters out of raudit, in this order" },
    { "--start", take_start, "2026-01-31, 2026-01-31T12:00Z, 2026-01-31T12:00:00Z, or +SECONDS from now" },
    { "--expiry", take_expiry, "2026-01-31, 2026-01-31T12:00Z, 2026-01-31T12:00:00Z, or +SECONDS from now" },
    { "--policy", take_policy, "the id of one of the table's stored access policies" },
    { "--source", take_source, "an address, or two with a - between them, the lower one first" },
    { "--protocol", take_protocol, "tls or any" },
    { "--start-partition", take_start_partition, "a partition key" },
    { "--start-row", take_start_row, "a row key, behind --start-partition" },
    { "--end-partition", take_end_partition, "a partition key" },
    { "--end-row", take_end_row, "a row key, behind --end-partition" },
};

static void print_fields(FILE *out)
{
    fprintf(out, "\nfields:\n");
    for (size_t i = 0; i < ARRAY_LEN(sas_fields); i++)
        fprintf(out, "  %-18s %s\n", sas_fields[i].name, sas_fields[i].allowed);
}

/* Take an option, whose name the usage text has. false: standard error says what is allowed. */
static bool take_field(struct credential *credential, struct str name, const char *value)
{
    size_t i = 0;

    while (!str_equal(str_of(sas_fields[i].name), name)) {
        i++;
        assert(i < ARRAY_LEN(sas_fields) && "the usage text has the options of the list");
    }
    if (sas_fields[i].take(credential, value))
        return true;
    fprintf(stderr, "tavola sas create: %s takes %s\n", sas_fields[i].name, sas_fields[i].allowed);
    return false;
}

/* Describe a combination that servers accept but that can never be useful; NULL: the credential is useful. */
static const char *find_nonsense(const struct credential *credential)
{
    const struct key_range *range = &credential->range;
    int order =
        range->has_low && range->has_high ? str_compare(range->low.partition, range->high.partition) : -1;

    if (credential->expiry && credential->expiry <= credential->issued)
        return "the expiry has passed";
    if (order > 0 || (order == 0 && range->high_has_row && str_compare(range->low.row, range->high.row) > 0))
        return "the range ends before it starts";
    return NULL;
}

static int run_sas_create(const struct client_config *config, int argc, char **argv)
{
    struct credential credential = { .kind = CREDENTIAL_SIGNATURE, .issued = clock_ticks() };
    struct arguments arguments = { .command = "sas create" };
    struct arena arena;
    int exit_code;

    if (!command_arguments(SAS_CREATE, 2, argc, argv, &arguments))
        return COMMAND_MISUSED;
    for (int i = 0; i < arguments.option_count; i++)
        if (!take_field(&credential, arguments.options[i].name, arguments.options[i].value))
            return COMMAND_MISUSED;
    if (find_nonsense(&credential)) {
        fprintf(stderr, "tavola sas create: %s\n", find_nonsense(&credential));
        return COMMAND_MISUSED;
    }
    arena_init(&arena);
    credential.account = str_of(arguments.words[0]);
    credential.table = table_name_fold(str_of(arguments.words[1]), &arena);
    exit_code = sign_and_print(config, "sas create", &credential, &arena);
    arena_cleanup(&arena);
    return exit_code;
}

/* ---- explaining ---- */

static void print_time(const char *what, int64_t ticks)
{
    char text[TIME_TEXT_BYTES];

    if (ticks)
        printf("%-16s %s\n", what, time_text_format(ticks, text));
}

static void print_text(const char *what, struct str text)
{
    printf("%-16s %.*s\n", what, STR_ARG(text));
}

static void print_source(const struct network_range *source, struct arena *arena)
{
    struct str low = network_address_format(&source->low, arena);
    struct str high = network_address_format(&source->high, arena);

    printf("%-16s %.*s%s%.*s\n", "source", STR_ARG(low), str_equal(low, high) ? "" : "-",
        str_equal(low, high) ? 0 : (int)high.len, high.data);
}

static void print_signature(const struct credential *credential, struct arena *arena)
{
    const struct key_range *range = &credential->range;

    print_text("table", credential->table);
    if (credential->permissions)
        print_text("permissions", access_format_permissions(credential->permissions, arena));
    print_time("start", credential->start);
    if (credential->policy.len > 0)
        print_text("policy", credential->policy);
    if (credential->has_source)
        print_source(&credential->source, arena);
    if (credential->tls_only)
        print_text("protocol", STR_LITERAL("tls"));
    if (range->has_low) {
        print_text("start partition", range->low.partition);
        print_text("start row", range->low.row);
    }
    if (range->has_high)
        print_text("end partition", range->high.partition);
    if (range->high_has_row)
        print_text("end row", range->high.row);
}

static int explain(const struct client_config *config, struct str text, struct arena *arena)
{
    struct credential credential;
    struct account account = { 0 };

    if (!credential_parse(text, arena, &credential)) {
        fprintf(stderr, "tavola sas explain: this is neither a token nor a shared access signature\n");
        return COMMAND_FAILED;
    }
    print_text("kind", credential.kind == CREDENTIAL_TOKEN ? STR_LITERAL("token of the whole account")
                                                           : STR_LITERAL("shared access signature"));
    print_text("account", credential.account);
    print_time("issued", credential.issued);
    print_time("expiry", credential.expiry);
    if (credential.expiry && credential.expiry <= clock_ticks())
        print_text("expired", STR_LITERAL("yes"));
    if (credential.kind == CREDENTIAL_SIGNATURE)
        print_signature(&credential, arena);
    if (!config->account_key)
        return COMMAND_OK;
    if (!account_key_parse(str_of(config->account_key), arena, &account.keys[0])) {
        fprintf(stderr, "tavola sas explain: TAVOLA_ACCOUNT_KEY is not a key\n");
        return COMMAND_MISUSED;
    }
    account.keys[1] = account.keys[0];
    print_text("signed", credential_is_genuine(&credential, &account)
                             ? STR_LITERAL("with the key of TAVOLA_ACCOUNT_KEY")
                             : STR_LITERAL("not with the key of TAVOLA_ACCOUNT_KEY"));
    return COMMAND_OK;
}

static int run_explain(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "sas explain" };
    char line[LIMIT_CREDENTIAL_BYTES + 2];
    struct arena arena;
    int exit_code;

    if (!command_arguments("< FILE", 0, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (!fgets(line, sizeof(line), stdin))
        line[0] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    arena_init(&arena);
    exit_code = explain(config, str_of(line), &arena);
    arena_cleanup(&arena);
    return exit_code;
}

static const struct command commands[] = {
    {
        .words = "token create",
        .arguments = TOKEN_ARGUMENTS,
        .help =
            "sign a token for the whole account with TAVOLA_ACCOUNT_KEY, valid for an hour or for SECONDS (a "
            "day at most)",
        .run = run_token,
    },
    {
        .words = CONNECTION_STRING,
        .arguments = CONNECTION_ARGUMENTS,
        .help = "print what a client of Azure Tables connects with: the account, TAVOLA_ACCOUNT_KEY, and "
                "URL, the "
                "address of TAVOLA_HTTP_LISTEN as clients reach it (https://tables.example)",
        .run = run_connection,
    },
    {
        .words = "sas create",
        .arguments = SAS_CREATE,
        .help =
            "sign a shared access signature for one table with TAVOLA_ACCOUNT_KEY; --help lists the fields",
        .print_more = print_fields,
        .run = run_sas_create,
    },
    {
        .words = "sas explain",
        .arguments = "< FILE",
        .help = "print the parts of the token or signature on standard input, and whether TAVOLA_ACCOUNT_KEY "
                "signed it",
        .run = run_explain,
    },
};

const struct command_group commands_access = { "Tokens", commands, ARRAY_LEN(commands) };
