/* SPDX-License-Identifier: MIT */
#include "summary.h"

#include "jitinject/array.h"

#include <errno.h>
#include <stdlib.h>

static bool takes_stacks(const struct perfdata *data)
{
    size_t count;
    const struct perfdata_attr *attrs = perfdata_attrs(data, &count);

    for (size_t i = 0; i < count; i++)
        if (attrs[i].takes_stacks)
            return true;
    return false;
}

int summary_fill(const struct recording *recording)
{
    struct inject_summary *summary = recording->summary;
    size_t count;
    const struct place_process *rows = place_processes(recording->place, &count);

    if (!array_reserve(&summary->processes, &summary->process_capacity, count))
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        summary->processes[i] = (struct inject_process){
            .pid = rows[i].pid,
            .functions = rows[i].codes,
            .code_bytes = rows[i].code_bytes,
            .repeated = rows[i].repeated,
            .beyond_layers = rows[i].beyond_layers,
            .mappings = rows[i].events,
            .dropped = rows[i].dropped,
            .first_file = rows[i].first_file,
            .file_count = rows[i].files,
        };
    }
    summary->process_count = count;
    summary->takes_stacks = takes_stacks(recording->data);
    return 0;
}

void inject_summary_clear(struct inject_summary *summary)
{
    for (size_t i = 0; i < summary->file_count; i++)
        free(summary->files[i].path);
    for (size_t i = 0; i < summary->clock_count; i++)
        free(summary->clocks[i].path);
    free(summary->files);
    free(summary->processes);
    free(summary->clocks);
    *summary = (struct inject_summary){0};
}
