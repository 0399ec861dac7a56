/* SPDX-License-Identifier: MIT */
/* What is told of a run when it is over. */
#ifndef INJECT_SUMMARY_H
#define INJECT_SUMMARY_H

#include "recording.h"

/* The rows of processes as place knows them; samples are counted later. 0 or -ENOMEM. */
int summary_fill(const struct recording *recording);

#endif /* INJECT_SUMMARY_H */
