/* SPDX-License-Identifier: MIT */
#include "jitinject/diag_list.h"

#include "jitinject/array.h"

#include <stdlib.h>
#include <string.h>

struct diag_kept {
    enum diag_severity severity;
    char *path; /* or NULL */
    uint64_t offset;
    char *text;
};

/* All of them or none. */
static bool copy_strings(const struct diag_report *report, struct diag_kept *kept)
{
    kept->path = report->path ? strdup(report->path) : NULL;
    kept->text = strdup(report->text);
    if (kept->text && (kept->path || !report->path))
        return true;
    free(kept->path);
    free(kept->text);
    return false;
}

static void keep(void *context, const struct diag_report *report)
{
    struct diag_list *list = context;
    struct diag_kept kept = {.severity = report->severity, .offset = report->offset};

    list->lost = list->lost || list->count == DIAG_LIST_MAX ||
                 !array_reserve(&list->kept, &list->capacity, list->count + 1) ||
                 !copy_strings(report, &kept);
    if (list->lost)
        return;
    list->kept[list->count++] = kept;
    list->failed = list->failed || report->severity == DIAG_ERROR;
}

struct diag diag_list_sink(struct diag_list *list)
{
    return (struct diag){.report = keep, .context = list};
}

void diag_list_replay(const struct diag_list *list, const struct diag *diag)
{
    for (size_t i = 0; i < list->count; i++)
        diag_report(diag, list->kept[i].severity, list->kept[i].path, list->kept[i].offset, "%s",
                    list->kept[i].text);
    if (list->lost)
        diag_report(diag, DIAG_WARNING, NULL, DIAG_NO_OFFSET,
                    "more was to be said than could be kept in memory");
}

void diag_list_clear(struct diag_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->kept[i].path);
        free(list->kept[i].text);
    }
    free(list->kept);
    *list = (struct diag_list){0};
}
