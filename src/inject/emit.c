/* SPDX-License-Identifier: MIT */
#include "emit.h"

#include "object.h"
#include "stopwatch.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct emit {
    const struct recording *recording;
    const struct output *output;
    struct object *objects;
    size_t count;
    pthread_t thread;
    bool running;
    pthread_mutex_t lock;   /* for what follows, and the time that writing takes */
    pthread_cond_t changed; /* another one is open, or none is to be written any more */
    size_t open;            /* so many have been started */
    size_t next, end;       /* those that nobody has taken */
    int err;                /* of the object `failed` */
    size_t failed;
};

/* Where the shared objects go, as an absolute path. */
static int find_directory(const struct emit *emit, char directory[PATH_MAX])
{
    const struct inject_options *options = emit->recording->options;
    const char *wanted = options->so_dir;
    char parent[PATH_MAX];

    if (!wanted) {
        const char *slash = output_is_stream(emit->output) ? NULL : strrchr(options->output, '/');
        const int size = slash ? (int)(slash + 1 - options->output) : 0;
        if (size >= PATH_MAX)
            return -ENAMETOOLONG;
        snprintf(parent, sizeof(parent), "%.*s", size, options->output);
        wanted = size ? parent : ".";
    }
    if (!realpath(wanted, directory)) {
        const int err = -errno;
        diag_report(emit->recording->diag, DIAG_ERROR, wanted, DIAG_NO_OFFSET,
                    "cannot write the shared objects there: %s", strerror(-err));
        return err;
    }
    if (strcmp(directory, "/") == 0)
        *directory = '\0';
    return 0;
}

/* Takes an object to be written, which may have to be opened first; NULL: none is left, or it would
 * be of no use. */
static struct object *take(struct emit *emit)
{
    struct object *object = NULL;

    pthread_mutex_lock(&emit->lock);
    while (emit->next < emit->end && emit->next == emit->open && !emit->err)
        pthread_cond_wait(&emit->changed, &emit->lock);
    if (emit->next < emit->end && !emit->err)
        object = &emit->objects[emit->next++];
    pthread_mutex_unlock(&emit->lock);
    return object;
}

/* Of several failures the first object's counts: all before it have been tried. */
static void note_failure(struct emit *emit, const struct object *object, int err)
{
    const size_t number = (size_t)(object - emit->objects);

    pthread_mutex_lock(&emit->lock);
    if (err && (!emit->err || number < emit->failed)) {
        emit->err = err;
        emit->failed = number;
    }
    pthread_mutex_unlock(&emit->lock);
}

/* Done by as many threads as there are, until no object is left. */
static void *write_objects(void *context)
{
    struct emit *emit = context;
    struct inject_time *sum = &emit->recording->summary->times[INJECT_EMIT];
    struct inject_time time = {0};
    struct stopwatch watch;
    struct object *object;

    stopwatch_start(&watch);
    while ((object = take(emit)))
        note_failure(emit, object, object_write(emit->recording, object, &time));
    stopwatch_stop(&watch, &time);

    pthread_mutex_lock(&emit->lock);
    sum->wall += time.wall;
    sum->cpu += time.cpu;
    pthread_mutex_unlock(&emit->lock);
    return NULL;
}

/* Room for what is known of each. */
static int reserve(struct emit *emit)
{
    const struct recording *recording = emit->recording;
    struct inject_summary *summary = recording->summary;
    const struct place_file *layouts = place_files(recording->place, &emit->count);

    emit->objects = calloc(emit->count + 1, sizeof(*emit->objects));
    summary->files = calloc(emit->count + 1, sizeof(*summary->files));
    if (!emit->objects || !summary->files)
        return -ENOMEM;
    summary->file_count = emit->end = emit->count;
    for (size_t i = 0; i < emit->count; i++) {
        emit->objects[i].layout = &layouts[i];
        emit->objects[i].row = &summary->files[i];
    }
    return 0;
}

/* The first one is written while the others are still being opened. */
static int open_all(struct emit *emit)
{
    char directory[PATH_MAX];
    int err = find_directory(emit, directory);

    for (size_t i = 0; i < emit->count && !err; i++) {
        err = object_open(emit->recording, directory, &emit->objects[i]);
        if (!err && i == 0)
            emit->running = pthread_create(&emit->thread, NULL, write_objects, emit) == 0;
        pthread_mutex_lock(&emit->lock);
        emit->open += !err;
        pthread_cond_signal(&emit->changed);
        pthread_mutex_unlock(&emit->lock);
    }
    return err;
}

int emit_new(const struct recording *recording, const struct output *output, struct emit **out)
{
    struct emit *emit = calloc(1, sizeof(*emit));

    *out = NULL;
    if (!emit)
        return -ENOMEM;
    emit->recording = recording;
    emit->output = output;
    pthread_mutex_init(&emit->lock, NULL);
    pthread_cond_init(&emit->changed, NULL);
    int err = reserve(emit);
    if (!err && emit->count > 0)
        err = open_all(emit);
    if (err)
        emit_free(emit);
    else
        *out = emit;
    return err;
}

size_t emit_count(const struct emit *emit)
{
    return emit->count;
}

const char *emit_path(const struct emit *emit, size_t number)
{
    return emit->objects[number].row->path;
}

const uint8_t *emit_build_id(const struct emit *emit, size_t number)
{
    return emit->objects[number].build_id;
}

/* Waits until the thread has ended. */
static void join(struct emit *emit)
{
    if (emit->running)
        pthread_join(emit->thread, NULL);
    emit->running = false;
}

int emit_finish(struct emit *emit)
{
    write_objects(emit);
    join(emit);
    const size_t good = emit->err ? emit->failed : emit->count;
    for (size_t i = 0; i < good; i++)
        object_report(emit->recording, &emit->objects[i], 0);
    if (emit->err)
        object_report(emit->recording, &emit->objects[emit->failed], emit->err);
    return emit->err;
}

int emit_commit(struct emit *emit)
{
    int err = emit_finish(emit);

    /* Where the recording is written anew, nothing else is known to need the old ones. */
    for (size_t i = 0; i < emit->count && !err; i++)
        err = object_commit(emit->recording, &emit->objects[i], !output_replaces(emit->output));
    return err;
}

void emit_revoke(struct emit *emit)
{
    for (size_t i = 0; i < emit->count; i++)
        outfile_revoke(emit->objects[i].file);
}

void emit_free(struct emit *emit)
{
    if (!emit)
        return;
    pthread_mutex_lock(&emit->lock);
    emit->end = 0;
    pthread_cond_signal(&emit->changed);
    pthread_mutex_unlock(&emit->lock);
    join(emit);
    pthread_cond_destroy(&emit->changed);
    pthread_mutex_destroy(&emit->lock);
    for (size_t i = 0; i < emit->count && emit->objects; i++)
        object_clear(&emit->objects[i]);
    free(emit->objects);
    free(emit);
}
