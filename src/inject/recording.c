/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include "ahead.h"
#include "maps.h"

#include <stdlib.h>

static bool same_code(void *context, const struct code *a, const struct code *b)
{
    const struct recording *recording = context;

    /* Of a map only what memory holds twice is the same. */
    if (a->source >= recording->dump_count || b->source >= recording->dump_count)
        return a->source == b->source && a->name == b->name;
    return jitdump_same_code(recording->dumps[a->source].file, a, recording->dumps[b->source].file,
                             b);
}

int recording_open(struct recording *recording, const struct inject_options *options,
                   const struct diag *diag, struct inject_summary *summary)
{
    const struct perfdata_options read_options = {.force = options->force};
    const struct place_options place_options = {.same_code = same_code, .context = recording};

    *recording = (struct recording){.options = options, .diag = diag, .summary = summary};
    const int err = perfdata_open(options->input, &read_options, diag, &recording->data);
    return err ? err : place_new(&place_options, &recording->place);
}

void recording_close(struct recording *recording)
{
    ahead_free(recording->ahead);
    place_free(recording->place);
    for (size_t i = 0; i < recording->dump_count; i++) {
        jitdump_index_clear(&recording->dumps[i].index);
        jitdump_free(recording->dumps[i].file);
    }
    free(recording->dumps);
    maps_free(recording->maps);
    free(recording->sources);
    inputs_clear(&recording->inputs);
    tally_clear(&recording->tally);
    tasks_clear(&recording->tasks);
    for (size_t i = 0; i < recording->marker_count; i++)
        free(recording->markers[i].path);
    free(recording->markers);
    perfdata_free(recording->data);
}
