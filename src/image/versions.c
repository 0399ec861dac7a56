/* SPDX-License-Identifier: MIT */
#include "versions.h"

#include "combine.h"
#include "encode.h"
#include "jitinject/array.h"
#include "leb.h"
#include "word.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Reading a word of a piece, in units of COMBINE_WORK_MAX. */
#define READ_WORK 32

struct version {
    const struct code *code;
    uint64_t start, end;            /* in the files */
    size_t first_table, next_table; /* of its tables: the first, and the first that is not over */
    size_t table_end;
    const struct version_table *walked; /* that its walk is in; NULL: none yet */
    bool has_walk;                      /* the rows of that one can be told */
    bool is_untold;                     /* somewhere */
};

struct version_table {
    size_t piece;
    uint64_t start, end;
    uint64_t pc; /* where its first row is, which another table may have covered */
    struct cfi_cie cie;
    struct cfi_fde fde;
    uint8_t *bytes; /* of both */
};

/* The pieces over a cell. Of one layer there is one at most. Walks go on from cell to cell. */
struct cell {
    struct version *pieces[WORD_PIECES_MAX];
    struct cfi_walk *walks[WORD_PIECES_MAX]; /* of each piece; behind those, the free ones */
    size_t count;
};

struct job {
    struct versions *versions;
    struct frames *frames;
    struct combine combine;
    struct combine_version rows[WORD_PIECES_MAX];
    struct cfi_walk walks[WORD_PIECES_MAX];
    struct word word;
    struct cfi_row frame_pointer; /* for code without a table */
    uint64_t *edges;              /* of a group of pieces: where something begins or ends */
    size_t edge_count, edge_capacity;
};

int versions_add(struct versions *versions, const struct code *code, uint64_t offset)
{
    if (!array_reserve(&versions->pieces, &versions->capacity, versions->count + 1))
        return -ENOMEM;
    versions->pieces[versions->count++] =
        (struct version){.code = code, .start = offset, .end = offset + code->size};
    return 0;
}

static const uint8_t *copy(uint8_t **at, const uint8_t *bytes, size_t size)
{
    uint8_t *const copied = *at;

    if (size)
        memcpy(copied, bytes, size);
    *at += size;
    return copied;
}

int versions_add_table(struct versions *versions, size_t piece, const struct cfi_cie *cie,
                       const struct cfi_fde *fde, uint64_t pc, uint64_t size)
{
    if (!array_reserve(&versions->tables, &versions->table_capacity, versions->table_count + 1))
        return -ENOMEM;
    uint8_t *at =
        malloc(cie->parameters_size + cie->instructions_size + fde->instructions_size + 1);
    if (!at)
        return -ENOMEM;
    struct version_table *table = &versions->tables[versions->table_count++];
    *table = (struct version_table){
        .piece = piece,
        .start = pc,
        .end = pc + size,
        .pc = pc,
        .cie = *cie,
        .fde = *fde,
        .bytes = at,
    };
    table->cie.parameters = copy(&at, cie->parameters, cie->parameters_size);
    table->cie.instructions = copy(&at, cie->instructions, cie->instructions_size);
    table->fde.instructions = copy(&at, fde->instructions, fde->instructions_size);
    return 0;
}

void versions_free(struct versions *versions)
{
    for (size_t i = 0; i < versions->table_count; i++)
        free(versions->tables[i].bytes);
    free(versions->tables);
    free(versions->pieces);
}

static int compare_tables(const void *left, const void *right)
{
    const struct version_table *a = left, *b = right;

    if (a->piece != b->piece)
        return a->piece < b->piece ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

/* Tells each piece its tables; where they overlap, the first one counts. */
static void link_tables(struct versions *versions)
{
    struct version_table *tables = versions->tables;

    if (versions->table_count > 1)
        qsort(tables, versions->table_count, sizeof(*tables), compare_tables);
    for (size_t i = 0; i < versions->table_count; i++) {
        struct version *piece = &versions->pieces[tables[i].piece];
        if (piece->table_end == 0)
            piece->first_table = piece->next_table = i;
        else if (tables[i].start < tables[i - 1].end)
            tables[i].start = tables[i - 1].end;
        piece->table_end = i + 1;
    }
}

/* The table of the piece at the address, to which no smaller one follows; NULL: there is none. */
static const struct version_table *table_at(const struct versions *versions, struct version *piece,
                                            uint64_t pc)
{
    while (piece->next_table < piece->table_end && versions->tables[piece->next_table].end <= pc)
        piece->next_table++;
    if (piece->next_table == piece->table_end || versions->tables[piece->next_table].start > pc)
        return NULL;
    return &versions->tables[piece->next_table];
}

/*
 * What unwinders do where there is no table: the frame pointer leads to the caller's one, and above
 * that lies the return address, on x86-64 as on AArch64. Elsewhere they do nothing.
 */
static struct cfi_row frame_pointer_row(uint16_t machine)
{
    static const struct {
        uint16_t machine, frame_pointer, return_register;
    } machines[] = {{EM_X86_64, 6, 16}, {EM_AARCH64, 29, 30}};

    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        if (machines[i].machine == machine)
            return (struct cfi_row){
                .cfa = {.kind = CFI_OFFSET, .reg = machines[i].frame_pointer, .value = 16},
                .rules = {{.kind = CFI_OFFSET, .reg = machines[i].frame_pointer, .value = -16},
                          {.kind = CFI_OFFSET, .reg = machines[i].return_register, .value = -8}},
                .count = 2,
            };
    return (struct cfi_row){.count = 0};
}

/* Sets the row of a piece at the address. */
static void begin_row(struct job *job, size_t number, struct version *piece, struct cfi_walk *walk,
                      uint64_t pc)
{
    struct combine_version *version = &job->rows[number];
    const struct version_table *table = table_at(job->versions, piece, pc);

    *version = (struct combine_version){.row = NULL};
    if (!table) {
        version->row = job->frame_pointer.count ? &job->frame_pointer : NULL;
        return;
    }
    if (piece->walked != table) {
        piece->walked = table;
        piece->has_walk =
            cfi_walk_start(walk, &table->cie, &table->fde, table->pc, job->frames->swapped);
    }
    version->walk = piece->has_walk ? walk : NULL;
}

/* Has the cell know a word that tells its pieces apart. 0 or a negative errno. */
static int find_word(struct job *job, const struct cell *over, struct combine_cell *cell)
{
    struct word *word = &job->word;

    word->count = over->count;
    for (size_t i = 0; i < over->count; i++) {
        const struct version *piece = over->pieces[i];
        word->pieces[i] =
            (struct word_piece){.code = piece->code, .start = piece->start, .end = piece->end};
    }
    const int err = word_find(word, job->versions->image);
    if (err || !word->found)
        return err;
    cell->has_word = true;
    cell->word_addr = word->addr;
    for (size_t i = 0; i < over->count; i++)
        job->rows[i].word = word->values[i];
    return 0;
}

/* The FDE for job->combine. 1: done; 0: there is no room; or a negative errno. */
static int write_frame(struct job *job, const struct combine_cell *cell)
{
    static const uint8_t factors[] = {1, 1}; /* alignment factors of code and data */
    uint8_t parameters[CFI_CIE_PARAMETERS_MAX];

    memcpy(parameters, factors, sizeof(factors));
    const uint8_t *end = leb_write_unsigned(parameters + sizeof(factors), cell->return_register);
    const struct cfi_cie cie = {.version = 3,
                                .parameters = parameters,
                                .parameters_size = (size_t)(end - parameters),
                                .instructions = end};
    const struct cfi_fde fde = {.instructions = job->combine.instructions,
                                .instructions_size = job->combine.size};
    const int done = frames_add(job->frames, &cie, &fde, cell->start, cell->end - cell->start);
    job->versions->image->stats->unwind_entries += done > 0;
    return done;
}

/* Sets the row of each version. False: none has a table. */
static bool begin_rows(struct job *job, const struct cell *over, struct combine_cell *cell)
{
    bool has_table = false;

    for (size_t i = 0; i < over->count; i++) {
        struct combine_version *version = &job->rows[i];
        begin_row(job, i, over->pieces[i], over->walks[i], cell->start);
        if (!version->walk)
            continue;
        if (!has_table)
            cell->return_register = version->walk->return_register;
        else if (version->walk->return_register != cell->return_register)
            *version = (struct combine_version){.row = NULL};
        has_table = true;
    }
    return has_table;
}

/*
 * Where there are too many versions the table knows the one of this file only: what a reader takes
 * that reads each file's own table is right at least, and through the others no reader goes on.
 */
static void keep_own(struct job *job, const struct cell *over, struct combine_cell *cell)
{
    const uint32_t layer = job->versions->image->file->codes[0]->layer;
    size_t own = 0;

    while (own < over->count && over->pieces[own]->code->layer != layer)
        own++;
    const uint64_t other_word = job->rows[own == 0].word;
    cell->count = 1;
    if (own < over->count) {
        for (size_t i = 0; i < over->count; i++)
            cell->has_word &= i == own || job->rows[i].word != job->rows[own].word;
        job->rows[1] = job->rows[own];
        cell->count = 2;
    }
    job->rows[0] = (struct combine_version){.row = NULL, .word = other_word};
}

/* Writes the table of one cell. 0 or a negative errno. */
static int write_cell(struct job *job, const struct cell *over, uint64_t start, uint64_t end)
{
    struct combine_cell cell = {
        .versions = job->rows,
        .count = over->count,
        .start = start,
        .end = end,
        .is_64bit = job->versions->image->target->is_64bit,
        .swapped = job->frames->swapped,
    };
    int err = 0;

    if (!begin_rows(job, over, &cell))
        return 0;
    if (over->count > 1 && job->combine.work < COMBINE_WORK_MAX)
        err = find_word(job, over, &cell);
    job->combine.work += READ_WORK * over->count;
    if (over->count > COMBINE_VERSIONS_MAX)
        keep_own(job, over, &cell);
    err = err ? err : combine_versions(&job->combine, &cell);
    const int done = err ? err : write_frame(job, &cell);
    for (size_t i = 0; i < over->count; i++)
        over->pieces[i]->is_untold |= job->combine.is_untold || done == 0;
    return done < 0 ? done : 0;
}

static int add_edge(struct job *job, uint64_t edge)
{
    if (!array_reserve(&job->edges, &job->edge_capacity, job->edge_count + 1))
        return -ENOMEM;
    job->edges[job->edge_count++] = edge;
    return 0;
}

static int collect_edges(struct job *job, struct version *first, const struct version *end)
{
    const struct version_table *tables = job->versions->tables;
    int err = 0;

    job->edge_count = 0;
    for (const struct version *piece = first; piece < end && !err; piece++) {
        err = add_edge(job, piece->start);
        err = err ? err : add_edge(job, piece->end);
        for (size_t i = piece->first_table; i < piece->table_end && !err; i++) {
            err = add_edge(job, tables[i].start);
            err = err ? err : add_edge(job, tables[i].end);
        }
    }
    if (!err)
        qsort(job->edges, job->edge_count, sizeof(*job->edges), array_compare_u64);
    return err;
}

/* Those that are still there at the address stay, with their walks. */
static void keep_pieces(struct cell *over, uint64_t start)
{
    size_t count = 0;

    for (size_t i = 0; i < over->count; i++) {
        struct cfi_walk *const walk = over->walks[i];
        if (over->pieces[i]->end <= start)
            continue;
        over->walks[i] = over->walks[count];
        over->walks[count] = walk;
        over->pieces[count++] = over->pieces[i];
    }
    over->count = count;
}

/* Pieces that hang together by overlaps. 0 or a negative errno. */
static int write_group(struct job *job, struct version *first, struct version *end)
{
    struct cell over = {.count = 0};
    struct version *next = first;
    int err = collect_edges(job, first, end);

    for (size_t i = 0; i < WORD_PIECES_MAX; i++)
        over.walks[i] = &job->walks[i];
    for (size_t i = 0; i + 1 < job->edge_count && !err; i++) {
        const uint64_t start = job->edges[i];
        if (job->edges[i + 1] == start)
            continue;
        keep_pieces(&over, start);
        for (; next < end && next->start <= start && over.count < WORD_PIECES_MAX; next++)
            over.pieces[over.count++] = next;
        err = write_cell(job, &over, start, job->edges[i + 1]);
    }
    return err;
}

int versions_write(struct versions *versions, struct frames *frames)
{
    struct version *pieces = versions->pieces;

    if (versions->table_count == 0)
        return 0;
    struct job *job = calloc(1, sizeof(*job));
    int err = job ? 0 : -ENOMEM;
    if (!err) {
        job->versions = versions;
        job->frames = frames;
        job->frame_pointer = frame_pointer_row(versions->image->target->machine);
        link_tables(versions);
    }
    for (size_t i = 0, next; i < versions->count && !err; i = next) {
        uint64_t end = pieces[i].end;
        for (next = i + 1; next < versions->count && pieces[next].start < end; next++)
            end = pieces[next].end > end ? pieces[next].end : end;
        err = write_group(job, &pieces[i], &pieces[next]);
    }
    for (size_t i = 0; i < versions->count; i++)
        versions->image->stats->unwind_dropped += pieces[i].is_untold;
    if (job) {
        free(job->combine.instructions);
        free(job->edges);
    }
    free(job);
    return err;
}
