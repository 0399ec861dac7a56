/* SPDX-License-Identifier: MIT */
/* Shared objects are called by process, so another recording of it may have one of the same name.
 */
#ifndef INJECT_REPLACE_H
#define INJECT_REPLACE_H

#include "jitinject/diag.h"
#include "jitinject/image.h"

/* Warns if one with this build-id is about to replace another one that is called `path`. */
void replace_warn(const struct diag *diag, const char *path,
                  const uint8_t build_id[IMAGE_BUILD_ID_SIZE]);

#endif /* INJECT_REPLACE_H */
