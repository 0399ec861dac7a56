/* SPDX-License-Identifier: MIT */
/* What all line tables of a dump together tell of their writer. */
#include "debug.h"

/* So many functions, spread over the dump, tell as much as all of a large one. */
#define SURVEY_FUNCTIONS 2048

#define ENTRIES_AT_ONCE 32

/* What V8 writes into the reserved word of the header, src/diagnostics/perf-jit.cc. */
#define V8_RESERVED 0xdeadbeefu

struct survey {
    bool of_v8;
    uint64_t functions; /* with lines */
    uint64_t at_bias;   /* of these, the ones whose first line is exactly at the bias */
    uint64_t before;    /* ... before it: addresses as they are */
    uint64_t beyond;    /* ... with lines behind their end that the bias would bring back */
};

/* Line 0 also marks the end of the code, which is no place in it. */
static bool counts(const struct jitdump_line *entry, const struct code *code)
{
    return entry->line != 0 && !entry->is_whole && entry->offset >= -DEBUG_BEFORE &&
           entry->offset <= (int64_t)code->size + DEBUG_BIAS;
}

static void look_at(struct survey *survey, struct jitdump_lines *lines, const struct code *code)
{
    struct jitdump_line entries[ENTRIES_AT_ONCE];
    int64_t first = INT64_MAX, last = INT64_MIN;
    size_t count;

    while ((count = jitdump_lines_next(lines, entries, ENTRIES_AT_ONCE)) > 0)
        for (size_t i = 0; i < count; i++) {
            if (!counts(&entries[i], code))
                continue;
            if (entries[i].offset < first)
                first = entries[i].offset;
            if (entries[i].offset > last)
                last = entries[i].offset;
        }
    if (first > last)
        return;
    survey->functions++;
    survey->at_bias += first == DEBUG_BIAS;
    survey->before += first < DEBUG_BIAS;
    survey->beyond += last > (int64_t)code->size;
}

/*
 * With a bias nothing is before it, most functions begin with a line, and the last lines of many
 * are behind their end. A few functions may be otherwise: what is paired wrongly, or damaged.
 *
 * Code of newer V8 begins with a prologue and ends with data, neither of which has lines. A short
 * table without lines before the bias could be Java's too, so V8 has to be known by its header.
 */
static bool is_biased(const struct survey *survey)
{
    if (survey->of_v8)
        return survey->before <= survey->functions / 16;
    return (survey->at_bias > survey->functions / 2 || survey->beyond) &&
           survey->before <= (survey->at_bias + survey->beyond) / 16;
}

int jitdump_lines_survey(const struct jitdump *dump, const struct jitdump_index *index,
                         struct jitdump_line_traits *traits)
{
    const size_t step = 1 + index->count / SURVEY_FUNCTIONS;
    struct survey survey = {.of_v8 = dump->header.reserved == V8_RESERVED};
    struct jitdump_lines *lines;
    int err = jitdump_lines_new(&lines);

    *traits = (struct jitdump_line_traits){0};
    for (size_t i = 0; i < index->count && !err; i++) {
        const struct code *code = jitdump_index_code(index, i);
        if (!code->debug || code->flags & CODE_MOVED || (survey.functions && i % step))
            continue;
        err = jitdump_lines_open(lines, dump, code, 0);
        if (!err)
            look_at(&survey, lines, code);
    }
    jitdump_lines_free(lines);
    traits->has_lines = survey.functions > 0;
    traits->bias = is_biased(&survey) ? DEBUG_BIAS : 0;
    return err;
}
