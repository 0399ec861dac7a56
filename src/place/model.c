/* SPDX-License-Identifier: MIT */
#include "model.h"

int model_copy(struct model *to, const struct model *from)
{
    int err = rangemap_copy(&to->ranges, &from->ranges);

    if (!err)
        err = rangemap_copy(&to->covered, &from->covered);
    return err ? err : rangemap_copy(&to->opened, &from->opened);
}

void model_clear(struct model *model)
{
    rangemap_clear(&model->ranges);
    rangemap_clear(&model->covered);
    rangemap_clear(&model->opened);
}
