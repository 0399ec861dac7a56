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

static void keep(void *context, const struct diag_report *report)
{
    struct diag_list *list = context;

    list->failed = list->failed || report->severity == DIAG_ERROR;
    list->lost = list->lost || list->count == DIAG_LIST_MAX ||
                 !array_reserve(&list->kept, &list->capacity, list->count + 1);
    if (list->lost)
        return;
    struct diag_kept *kept = &list->kept[list->count++];
    *kept = (struct diag_kept){.severity = report->severity,
                               .path = report->path ? strdup(report->path) : NULL,
                               .offset = report->offset,
                               .text = strdup(report->text)};
    list->lost = !kept->text || (report->path && !kept->path);
}

struct diag diag_list_sink(struct diag_list *list)
{
    return (struct diag){.report = keep, .context = list};
}

void diag_list_replay(const struct diag_list *list, const struct diag *diag)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->kept[i].text)
            diag_report(diag, list->kept[i].severity, list->kept[i].path, list->kept[i].offset,
                        "%s", list->kept[i].text);
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
