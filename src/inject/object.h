/* SPDX-License-Identifier: MIT */
/* One shared object of the result: what it is called, what it is for, and what is said of it. */
#ifndef INJECT_OBJECT_H
#define INJECT_OBJECT_H

#include "recording.h"

#include "jitinject/diag_list.h"
#include "jitinject/image.h"
#include "jitinject/outfile.h"

#include <limits.h>

struct object {
    const struct place_file *layout;
    struct inject_file *row; /* in the summary */
    struct outfile *file;
    struct diag_list reports; /* of writing it, which may be before they are to be heard */
    uint8_t build_id[IMAGE_BUILD_ID_SIZE];
};

/* Starts its file in `directory`, an absolute path. 0 or a negative errno; what is wrong with the
 * place is reported. */
int object_open(const struct recording *recording, const char *directory, struct object *object);
/*
 * Writes it, on any thread. What a second one took is added to `time`. 0 or a negative errno, which
 * its reports need not tell of.
 */
int object_write(const struct recording *recording, struct object *object,
                 struct inject_time *time);
/* Hands its reports on, once; `err` is what became of writing it. */
void object_report(const struct recording *recording, struct object *object, int err);
/*
 * Gives it its name. `warns`: says so if it replaces another one, that another output has code in.
 * 0 or a negative errno, reported.
 */
int object_commit(const struct recording *recording, const struct object *object, bool warns);
void object_clear(struct object *object);

#endif /* INJECT_OBJECT_H */
