/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - settings from the environment, by table. See config.h.
 */
#include "base/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/renamed_settings.h"

#include "base/digits.h"

enum { EXIT_BAD_CONFIG = 2, NAME_BYTES = 96, MAX_SETTINGS = 128 };

extern char **environ;

/* ---- suggestions ---- */

static size_t min_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The number of edits (insert, delete, replace) that turn one name into the other. */
static size_t edit_distance(const char *from, const char *to)
{
    size_t row[NAME_BYTES + 1];
    size_t to_len = strlen(to);

    if (to_len > NAME_BYTES || strlen(from) > NAME_BYTES)
        return SIZE_MAX;
    for (size_t j = 0; j <= to_len; j++)
        row[j] = j;
    for (size_t i = 0; from[i]; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < to_len; j++) {
            size_t replaced = diagonal + (from[i] != to[j]);

            diagonal = row[j + 1];
            row[j + 1] = min_of(replaced, min_of(row[j], row[j + 1]) + 1);
        }
    }
    return row[to_len];
}

const char *config_nearest(const char *name, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t best = strlen(name) / 4 + 1; /* a name with more edits is not a misspelling */

    for (size_t i = 0; i < count; i++) {
        size_t distance = edit_distance(name, names[i]);

        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

static bool ends_with(const char *text, const char *ending)
{
    size_t len = strlen(text), ending_len = strlen(ending);

    return len >= ending_len && strcmp(text + len - ending_len, ending) == 0;
}

/*
 * Kubernetes sets TAVOLA_PORT=tcp://... and six more variables in every pod if there is a Service
 * called tavola.
 */
static bool is_service_link(const char *name, const char *value)
{
    const char *port = strstr(name, "_PORT_");

    return strncmp(value, "tcp://", 6) == 0 || strncmp(value, "udp://", 6) == 0 ||
           ends_with(name, "_SERVICE_HOST") || strstr(name, "_SERVICE_PORT") ||
           (port && digits_is_decimal(port[6]));
}

/*
 * A hint for a variable that is not a setting or has a value that is not allowed; "": there is no
 * hint.
 */
static const char *stray_hint(const char *name, const char *value)
{
    return is_service_link(name, value)
               ? " (it looks like a Kubernetes service link: set enableServiceLinks: false in the pod's spec)"
               : "";
}

/* ---- values ---- */

bool config_is_address(const char *value)
{
    const char *colon = strrchr(value, ':');
    uint64_t port;

    if (strncmp(value, "unix:", 5) == 0)
        return value[5] == '/';
    if (!colon || colon == value || strchr(value, '/'))
        return false;
    if (value[0] == '[' ? colon[-1] != ']' : memchr(value, ':', (size_t)(colon - value)) != NULL)
        return false;
    return digits_parse_unsigned(str_of(colon + 1), 65535, &port);
}

static int find_choice(const struct config_setting *setting, const char *value)
{
    for (int i = 0; setting->choices[i]; i++)
        if (strcmp(setting->choices[i], value) == 0)
            return i;
    return -1;
}

static void append_allowed(const struct config_setting *setting, struct buf *out)
{
    switch (setting->type) {
    case CONFIG_STRING:
    case CONFIG_SECRET:
        buf_format(out, "%s", setting->allowed ? setting->allowed : "text");
        break;
    case CONFIG_INT:
        buf_format(out, "%lld..%lld", (long long)setting->min, (long long)setting->max);
        if (setting->unit)
            buf_format(out, " %s", setting->unit);
        break;
    case CONFIG_CHOICE:
        for (size_t i = 0; setting->choices[i]; i++)
            buf_format(out, "%s%s", i ? ", " : "", setting->choices[i]);
        break;
    }
}

/*
 * Store one value. false: the setting does not allow it. value NULL: the setting has no value and
 * no default.
 */
static bool store_value(const struct config_setting *setting, const char *value, void *out)
{
    char *field = (char *)out + setting->offset;

    switch (setting->type) {
    case CONFIG_STRING:
    case CONFIG_SECRET:
        memcpy(field, &value, sizeof(value));
        return !value || !setting->accepts || setting->accepts(value);
    case CONFIG_INT: {
        int64_t number = 0;

        if (value && !digits_parse_signed(str_of(value), setting->min, setting->max, &number))
            return false;
        memcpy(field, &number, sizeof(number));
        return true;
    }
    case CONFIG_CHOICE: {
        int choice = value ? find_choice(setting, value) : 0;

        memcpy(field, &choice, sizeof(choice));
        return choice >= 0;
    }
    }
    return false;
}

/* ---- loading ---- */

static bool is_called(const char *variable, const char *name)
{
    size_t len = strlen(name);

    return strncmp(variable, name, len) == 0 && variable[len] == '=';
}

/* The value of a setting; NULL if it is not set, or is empty. */
static const char *find_value(char *const *environment, const char *name)
{
    for (size_t i = 0; environment[i]; i++)
        if (is_called(environment[i], name) && environment[i][strlen(name) + 1] != '\0')
            return environment[i] + strlen(name) + 1;
    return NULL;
}

static size_t load_setting(
    const struct config_setting *setting, char *const *environment, void *out, struct buf *problems)
{
    const char *value = find_value(environment, setting->name);

    if (!value && setting->required) {
        buf_format(problems, "%s is not set: %s; allowed: ", setting->name, setting->help);
    } else {
        if (!value)
            value = setting->fallback;
        if (store_value(setting, value, out))
            return 0;
        buf_format(problems, "%s has a bad value%s", setting->name, stray_hint(setting->name, value));
        if (setting->type != CONFIG_SECRET)
            buf_format(problems, ": \"%s\"", value);
        buf_format(problems, "; allowed: ");
    }
    append_allowed(setting, problems);
    buf_append_byte(problems, '\n');
    return 1;
}

static bool is_setting(const struct config_program *program, const char *variable)
{
    for (size_t i = 0; i < program->count; i++)
        if (is_called(variable, program->settings[i].name))
            return true;
    for (size_t i = 0; config_known[i]; i++)
        if (is_called(variable, config_known[i]))
            return true;
    return false;
}

/* The setting with the most similar name: one of this program, otherwise one of another program. */
static const char *nearest_setting(const struct config_program *program, const char *name)
{
    const char *names[MAX_SETTINGS];
    size_t count = min_of(program->count, ARRAY_LEN(names)), known = 0;
    const char *nearest;

    for (size_t i = 0; i < count; i++)
        names[i] = program->settings[i].name;
    nearest = config_nearest(name, names, count);
    while (config_known[known])
        known++;
    return nearest ? nearest : config_nearest(name, config_known, known);
}

/*
 * Append advice for a variable that is not a setting: use its new name, a similar name, or read the
 * help.
 */
static void append_advice(const struct config_program *program, const char *name, struct buf *problems)
{
    const char *renamed = renamed_settings_find(name);
    const char *nearest = renamed ? NULL : nearest_setting(program, name);

    if (renamed)
        buf_format(problems, "; it is called %s now\n", renamed);
    else if (nearest)
        buf_format(problems, "; did you mean %s?\n", nearest);
    else
        buf_format(problems, "; %s --help lists them all\n", program->name);
}

/*
 * Append a problem if a variable has the prefix TAVOLA_ and is not a setting. Returns the number of
 * problems.
 */
static size_t check_known(const struct config_program *program, const char *variable, struct buf *problems)
{
    char name[NAME_BYTES];
    const char *equals = strchr(variable, '=');

    if (!equals || strncmp(variable, CONFIG_PREFIX, strlen(CONFIG_PREFIX)) != 0 ||
        is_setting(program, variable))
        return 0;
    snprintf(name, sizeof(name), "%.*s", (int)(equals - variable), variable);
    buf_format(problems, "%s is not a setting of %s, nor of another program of the product%s", name,
        program->name, stray_hint(name, equals + 1));
    append_advice(program, name, problems);
    return 1;
}

size_t config_load(
    const struct config_program *program, char *const *environment, void *out, struct buf *problems)
{
    size_t wrong = 0;

    for (size_t i = 0; i < program->count; i++)
        wrong += load_setting(&program->settings[i], environment, out, problems);
    for (size_t i = 0; environment[i]; i++)
        wrong += check_known(program, environment[i], problems);
    return wrong;
}

/* ---- the options every program has ---- */

void config_print_settings_help(const struct config_program *program)
{
    printf("Settings are environment variables:\n\n");
    for (size_t i = 0; i < program->count; i++) {
        const struct config_setting *setting = &program->settings[i];
        struct buf allowed;

        buf_init(&allowed, NULL);
        append_allowed(setting, &allowed);
        printf("  %s\n      %s\n      ", setting->name, setting->help);
        if (setting->type == CONFIG_INT || setting->type == CONFIG_CHOICE || setting->allowed)
            printf("allowed: %.*s; ", STR_ARG(buf_str(&allowed)));
        if (setting->fallback)
            printf("default: %s\n", setting->fallback);
        else
            printf("%s\n", setting->required ? "must be set" : "not set by default");
        buf_cleanup(&allowed);
    }
}

static void print_help(const struct config_program *program)
{
    printf("%s - %s\n\nusage: %s [--help | --version | --print-config | --print-settings]\n\n"
           "  --help            this text\n"
           "  --version         the version\n"
           "  --print-config    the settings in effect, secrets hidden\n"
           "  --print-settings  the names of the settings\n\n",
        program->name, program->summary, program->name);
    config_print_settings_help(program);
}

static void print_config(const struct config_program *program, const void *config)
{
    for (size_t i = 0; i < program->count; i++) {
        const struct config_setting *setting = &program->settings[i];
        const char *field = (const char *)config + setting->offset;
        const char *text;
        int64_t number;
        int choice;

        printf("%s=", setting->name);
        switch (setting->type) {
        case CONFIG_STRING:
        case CONFIG_SECRET:
            memcpy(&text, field, sizeof(text));
            printf("%s\n", !text ? "" : setting->type == CONFIG_SECRET ? "(hidden)" : text);
            break;
        case CONFIG_INT:
            memcpy(&number, field, sizeof(number));
            printf("%lld\n", (long long)number);
            break;
        case CONFIG_CHOICE:
            memcpy(&choice, field, sizeof(choice));
            printf("%s\n", setting->choices[choice]);
            break;
        }
    }
}

static bool load_or_complain(const struct config_program *program, void *out)
{
    struct buf problems;
    size_t wrong;

    buf_init(&problems, NULL);
    wrong = config_load(program, environ, out, &problems);
    if (wrong)
        fprintf(stderr, "%s: cannot start:\n%.*s", program->name, STR_ARG(buf_str(&problems)));
    buf_cleanup(&problems);
    return wrong == 0;
}

bool config_start(const struct config_program *program, int argc, char **argv, void *out, int *exit_code)
{
    const char *option = argc > 1 ? argv[1] : NULL;

    *exit_code = 0;
    if (argc > 2 || (option && strcmp(option, "--help") != 0 && strcmp(option, "--version") != 0 &&
                        strcmp(option, "--print-config") != 0 && strcmp(option, "--print-settings") != 0)) {
        fprintf(stderr,
            "%s: cannot use \"%s\": there are only the options --help, --version, --print-config and "
            "--print-settings, one at a time; settings are environment variables\n",
            program->name, argc > 2 ? argv[2] : option);
        *exit_code = EXIT_BAD_CONFIG;
        return false;
    }
    if (option && strcmp(option, "--help") == 0) {
        print_help(program);
        return false;
    }
    if (option && strcmp(option, "--version") == 0) {
        printf("%s %s\n", program->name, program->version);
        return false;
    }
    if (option && strcmp(option, "--print-settings") == 0) {
        for (size_t i = 0; i < program->count; i++)
            printf("%s\n", program->settings[i].name);
        return false;
    }
    if (!load_or_complain(program, out)) {
        *exit_code = EXIT_BAD_CONFIG;
        return false;
    }
    if (option)
        print_config(program, out);
    return option == NULL;
}
