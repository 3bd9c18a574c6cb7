/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments.c - see the header.
 */
#include "client/arguments.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/digits.h"
#include "base/macros.h"

static bool is_option_character(char c)
{
    return c == '-' || (c >= 'a' && c <= 'z');
}

bool arguments_next_option(struct str *rest, struct str *name, bool *has_value)
{
    for (size_t i = 0; i + 1 < rest->len; i++) {
        size_t end = i;

        if (rest->data[i] != '-' || (i > 0 && rest->data[i - 1] != '[' && rest->data[i - 1] != ' ') ||
            !is_option_character(rest->data[i + 1]))
            continue;
        while (end < rest->len && is_option_character(rest->data[end]))
            end++;
        *name = str_of_bytes(rest->data + i, end - i);
        *rest = str_from(*rest, end);
        *has_value = rest->len > 1 && rest->data[0] == ' ' && isalpha((unsigned char)rest->data[1]);
        return true;
    }
    return false;
}

static bool find_option(const char *usage, struct str given, struct str *name, bool *has_value)
{
    struct str rest = str_of(usage);

    while (arguments_next_option(&rest, name, has_value))
        if (str_equal(*name, given))
            return true;
    return false;
}

bool arguments_declares(const char *usage, const char *option)
{
    struct str name;
    bool has_value;

    return find_option(usage, str_of(option), &name, &has_value);
}

static bool complain_option(const char *usage, const struct arguments *arguments, const char *given)
{
    char texts[ARGUMENTS_MAX_OPTIONS][32];
    const char *names[ARGUMENTS_MAX_OPTIONS], *nearest;
    struct str rest = str_of(usage), name;
    bool has_value;
    size_t count = 0;

    while (count < ARGUMENTS_MAX_OPTIONS && arguments_next_option(&rest, &name, &has_value)) {
        snprintf(texts[count], sizeof(texts[count]), "%.*s", STR_ARG(name));
        names[count] = texts[count];
        count++;
    }
    nearest = config_nearest(given, names, count);
    fprintf(stderr, "tavola %s: there is no option \"%s\"", arguments->command, given);
    if (nearest)
        fprintf(stderr, "; did you mean \"%s\"?\n", nearest);
    else
        fprintf(stderr, "\nusage: tavola %s %s\n", arguments->command, usage);
    return false;
}

/* Read the option at *position, which moves to the option's value if that is an argument of its own. */
static bool read_option(const char *usage, int argc, char **argv, int *position, struct arguments *out)
{
    const char *given = argv[*position], *equals = strchr(given, '=');
    struct str name;
    bool has_value;

    if (!find_option(
            usage, equals ? str_of_bytes(given, (size_t)(equals - given)) : str_of(given), &name, &has_value))
        return complain_option(usage, out, given);
    if (out->option_count == ARGUMENTS_MAX_OPTIONS) {
        fprintf(stderr, "tavola %s: more than %d options\n", out->command, ARGUMENTS_MAX_OPTIONS);
        return false;
    }
    if ((has_value && !equals && *position + 1 == argc) || (!has_value && equals)) {
        fprintf(stderr, "tavola %s: %.*s %s\n", out->command, STR_ARG(name),
            has_value ? "needs a value" : "has no value");
        return false;
    }
    out->options[out->option_count].name = name;
    out->options[out->option_count++].value = !has_value ? "" : equals ? equals + 1 : argv[++*position];
    return true;
}

bool arguments_read(const char *usage, int argc, char **argv, struct arguments *out)
{
    bool only_words = false;

    out->count = out->option_count = 0;
    for (int i = 0; i < argc; i++) {
        if (!only_words && strcmp(argv[i], "--") == 0) {
            only_words = true;
        } else if (!only_words && argv[i][0] == '-' && argv[i][1] != '\0') {
            if (!read_option(usage, argc, argv, &i, out))
                return false;
        } else if (out->count < ARGUMENTS_MAX_WORDS) {
            out->words[out->count++] = argv[i];
        } else {
            fprintf(stderr, "tavola %s: more than %d words\n", out->command, ARGUMENTS_MAX_WORDS);
            return false;
        }
    }
    return true;
}

const char *arguments_value(const struct arguments *arguments, const char *name)
{
    for (int i = 0; i < arguments->option_count; i++)
        if (str_equal(arguments->options[i].name, str_of(name)))
            return arguments->options[i].value;
    return NULL;
}

bool arguments_number(const struct arguments *arguments, const char *name, int64_t max, int64_t *out)
{
    const char *value = arguments_value(arguments, name);
    uint64_t number;

    if (!value)
        return true;
    if (!digits_parse_unsigned(str_of(value), (uint64_t)max, &number) || number == 0) {
        fprintf(stderr, "tavola %s: %s takes a number from 1 to %lld, not \"%s\"\n", arguments->command, name,
            (long long)max, value);
        return false;
    }
    *out = (int64_t)number;
    return true;
}

bool arguments_choice(
    const struct arguments *arguments, const char *name, const char *const *words, size_t *out)
{
    const char *value = arguments_value(arguments, name);

    if (!value)
        return true;
    for (size_t i = 0; words[i]; i++)
        if (strcmp(value, words[i]) == 0) {
            *out = i;
            return true;
        }
    fprintf(stderr, "tavola %s: %s takes ", arguments->command, name);
    for (size_t i = 0; words[i]; i++)
        fprintf(stderr, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
    fprintf(stderr, ", not \"%s\"\n", value);
    return false;
}
