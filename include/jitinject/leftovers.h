/* SPDX-License-Identifier: MIT */
/*
 * Names that files have for a while only, to be removed by a signal that ends the program. A signal
 * handler is given nothing, so there is one list of them in a program.
 */
#ifndef JITINJECT_LEFTOVERS_H
#define JITINJECT_LEFTOVERS_H

struct leftover;

/* Any thread may call it. NULL: no memory, and a signal leaves the file. */
struct leftover *leftovers_add(const char *name);
/* The name is gone, or is to stay. NULL is fine. */
void leftovers_drop(struct leftover *leftover);
/* Removes all files that were added and not dropped; for signal handlers. */
void leftovers_remove(void);

#endif /* JITINJECT_LEFTOVERS_H */
