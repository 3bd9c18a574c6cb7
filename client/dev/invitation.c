/* SPDX-License-Identifier: Apache-2.0 */
/*
 * invitation.c - see the header.
 */
#include "client/dev/invitation.h"

#include <stdio.h>
#include <string.h>

#define BUF_CURL "npx -y @bufbuild/buf curl --protocol grpc"
/* The account and the public key that every emulator of Azure Tables has. */
#define EMULATOR_ACCOUNT "devstoreaccount1"
#define EMULATOR_KEY                                                                                         \
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
#define CREATE_TABLE "/tavola.v1.TableService/CreateTable"

/* The TLS files that the printed commands name. Where the environment does not set them: placeholders. */
struct caller_files {
    const char *ca, *certificate, *key;
};

static struct caller_files files_of(const struct stack *stack)
{
    const struct client_config *client = stack->options->client;

    return (struct caller_files){
        .ca = client->ca ? client->ca : "CA.pem",
        .certificate = client->certificate ? client->certificate : "CERT.pem",
        .key = client->key ? client->key : "KEY.pem",
    };
}

/* The TLS options that buf and the command line have in common. */
static struct str tls_options(const struct stack *stack, const char *ca_option)
{
    struct caller_files files = files_of(stack);

    if (stack->transport == TRANSPORT_PLAIN)
        return STR_EMPTY;
    if (stack->transport == TRANSPORT_TLS)
        return arena_format(stack->arena, " %s %s", ca_option, files.ca);
    return arena_format(
        stack->arena, " %s %s --cert %s --key %s", ca_option, files.ca, files.certificate, files.key);
}

static bool is_socket(const struct stack *stack)
{
    return strncmp(stack->target, "unix:", 5) == 0;
}

static struct str buf_options(const struct stack *stack)
{
    struct str socket =
        is_socket(stack) ? arena_format(stack->arena, " --unix-socket %s", stack->target + 5) : STR_EMPTY;

    if (stack->transport == TRANSPORT_PLAIN)
        return arena_format(stack->arena, " --http2-prior-knowledge%.*s", STR_ARG(socket));
    return arena_format(stack->arena, "%.*s%.*s", STR_ARG(tls_options(stack, "--cacert")), STR_ARG(socket));
}

static void print_buf(const struct stack *stack, bool asks)
{
    const char *scheme = stack->transport == TRANSPORT_PLAIN ? "http" : "https";
    const char *host = is_socket(stack) ? "localhost" : stack->target;
    struct str options = buf_options(stack);

    printf("  list the methods   " BUF_CURL "%.*s --list-methods %s://%s\n", STR_ARG(options), scheme, host);
    printf("  create a table     " BUF_CURL "%.*s %s-d '{\"name\": \"people\"}' %s://%s" CREATE_TABLE "\n",
        STR_ARG(options), asks ? "-H 'authorization: Bearer TOKEN' " : "", scheme, host);
}

static void print_python(const struct stack *stack)
{
    struct caller_files files = files_of(stack);

    printf("  from Python        ");
    if (stack->transport == TRANSPORT_PLAIN)
        printf("grpc.insecure_channel('%s')", stack->target);
    else if (stack->transport == TRANSPORT_TLS)
        printf("grpc.secure_channel('%s', grpc.ssl_channel_credentials(open('%s', 'rb').read()))",
            stack->target, files.ca);
    else
        printf("grpc.secure_channel('%s', grpc.ssl_channel_credentials(*(open(name, 'rb').read() for name in "
               "('%s', '%s', '%s'))))",
            stack->target, files.ca, files.key, files.certificate);
    printf("   (Debian: python3-grpcio)\n");
}

/*
 * Print the address of the web page, and the settings with which an SDK of Azure Tables reaches the stack. If
 * the gRPC address uses TLS, the HTTP address does too.
 */
static void print_http(const struct stack *stack, bool asks)
{
    const char *scheme = stack->transport == TRANSPORT_PLAIN ? "http" : "https";

    if (!stack->http || strncmp(stack->http, "unix:", 5) == 0)
        return;
    printf("  look at it         %s://%s/\n", scheme, stack->http);
    if (asks)
        printf("  Azure Tables SDKs  TableEndpoint=%s://%s/ACCOUNT\n", scheme, stack->http);
    else
        printf("  Azure Tables SDKs  DefaultEndpointsProtocol=%s;AccountName=" EMULATOR_ACCOUNT
               ";AccountKey=" EMULATOR_KEY ";TableEndpoint=%s://%s/" EMULATOR_ACCOUNT ";\n",
            scheme, scheme, stack->http);
}

static void print_names(const struct stack *stack)
{
    const struct client_config *client = stack->options->client;

    if (stack->transport != TRANSPORT_PLAIN && !client->ca)
        printf("  CA.pem             the certificates of the authority of TAVOLA_TLS_CERT; with TAVOLA_CA "
               "set it "
               "is named here\n");
    if (stack->transport == TRANSPORT_MUTUAL_TLS && !client->certificate)
        printf("  CERT.pem, KEY.pem  a certificate that TAVOLA_TLS_CLIENT_CA accepts, and its key\n");
}

/* Print commands with the path of the command line, which lies beside the server and may not be in PATH. */
static void print_commands(const struct stack *stack, bool asks)
{
    const char *slash = strrchr(stack->server_path, '/');
    struct str folder =
        str_of_bytes(stack->server_path, slash ? (size_t)(slash - stack->server_path) + 1 : 0);
    struct str options = tls_options(stack, "--ca");

    if (asks)
        printf("  make an account    TAVOLA_POSTGRES='%s' %.*stavola account create NAME\n"
               "  sign a token       TAVOLA_ACCOUNT_KEY=KEY %.*stavola token create NAME\n",
            stack->postgres, STR_ARG(folder), STR_ARG(folder));
    printf("  check it           %.*stavola --target %s%.*s health\n", STR_ARG(folder), stack->target,
        STR_ARG(options));
    printf(
        "  first steps        %.*stavola --target %s%.*s table create people; %.*stavola entity put --help\n",
        STR_ARG(folder), stack->target, STR_ARG(options), STR_ARG(folder));
}

void invitation_print(const struct stack *stack)
{
    bool asks = strcmp(stack->authentication, "none") != 0;

    printf("\nTavola serves on %s (gRPC%s, %s).\n\n", stack->target,
        stack->transport == TRANSPORT_PLAIN ? "" : " over TLS",
        asks ? "with authentication"
             : "without authentication, TAVOLA_AUTHENTICATION=none, for this machine only");
    print_commands(stack, asks);
    print_buf(stack, asks);
    print_python(stack);
    print_http(stack, asks);
    print_names(stack);
    printf("  logs               %s\n\n", stack->folder.log);
    printf("Ctrl-C stops everything; the data stays.\n");
    fflush(stdout);
}
