/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_folder.c - see the header. A file gets its name when its content is complete. An old reference and the new one
 * have the same length.
 */
#include "client/blob_folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define QUOTED_PREFIX "\"tavola-blob:"

enum { ID_CHARACTERS = 32, PATH_BYTES = 4096, REFERENCE_BYTES = sizeof(QUOTED_PREFIX) + ID_CHARACTERS };

/* The id of the next reference; NULL: there is none. */
static char *next_id(char *json)
{
    while ((json = strstr(json, QUOTED_PREFIX)) != NULL) {
        json += sizeof(QUOTED_PREFIX) - 1;
        if (strspn(json, "0123456789abcdef") == ID_CHARACTERS && json[ID_CHARACTERS] == '"')
            return json;
    }
    return NULL;
}

static bool report_path(const char *path, struct tavola_error *error)
{
    fprintf(stderr, "tavola: %s: %s\n", path, strerror(errno));
    *error = (struct tavola_error){ .code = TAVOLA_OK };
    return false;
}

static bool write_bytes(void *context, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, context) == count;
}

static bool save_content(struct tavola *client, const char *id, const char *path, struct tavola_error *error)
{
    char part[PATH_BYTES], reference[REFERENCE_BYTES];
    struct tavola_blob_get get = { .reference = reference, .write = write_bytes };
    FILE *output;
    bool saved;

    snprintf(reference, sizeof(reference), "%s%.*s", &QUOTED_PREFIX[1], ID_CHARACTERS, id);
    if (snprintf(part, sizeof(part), "%s.tavola-part", path) >= (int)sizeof(part)) {
        errno = ENAMETOOLONG;
        return report_path(path, error);
    }
    output = fopen(part, "we");
    if (!output)
        return report_path(part, error);
    get.context = output;
    saved = tavola_get_blob(client, &get, NULL, error) == TAVOLA_OK;
    if (fclose(output) != 0 && saved)
        saved = report_path(part, error);
    if (saved && rename(part, path) != 0)
        saved = report_path(path, error);
    if (!saved)
        (void)unlink(part);
    return saved;
}

bool blob_folder_save(const char *folder, struct tavola *client, const char *json, struct tavola_error *error)
{
    char path[PATH_BYTES];

    for (const char *id = next_id((char *)json); id; id = next_id((char *)id)) {
        snprintf(path, sizeof(path), "%.*s/%.*s", PATH_BYTES - 64, folder, ID_CHARACTERS, id);
        if (access(path, F_OK) != 0 && !save_content(client, id, path, error))
            return false;
    }
    return true;
}

static int64_t read_bytes(void *context, void *buffer, size_t room)
{
    size_t count = fread(buffer, 1, room, context);

    return count == 0 && ferror((FILE *)context) ? -1 : (int64_t)count;
}

bool blob_folder_put(const char *folder, struct tavola *client, char *json, struct tavola_error *error)
{
    char path[PATH_BYTES];

    for (char *id = next_id(json); id; id = next_id(id)) {
        struct tavola_blob_put put = { .read = read_bytes };
        struct tavola_blob blob;
        FILE *input;

        snprintf(path, sizeof(path), "%.*s/%.*s", PATH_BYTES - 64, folder, ID_CHARACTERS, id);
        input = fopen(path, "re");
        if (!input)
            return report_path(path, error);
        put.context = input;
        (void)tavola_put_blob(client, &put, &blob, error);
        (void)fclose(input);
        if (error->code != TAVOLA_OK)
            return false;
        memcpy(id, blob.etag + 1, ID_CHARACTERS); /* behind its quote */
    }
    return true;
}
