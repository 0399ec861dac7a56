/* SPDX-License-Identifier: MIT */
/* Where malloc() takes memory from. */
#ifndef JITINJECT_HEAP_H
#define JITINJECT_HEAP_H

/*
 * Lets malloc() take it from huge pages, where the system has them: in a virtual machine the first
 * touch of each small page can cost 30 us. To be called first of all in a program.
 */
void heap_prepare(void);

#endif /* JITINJECT_HEAP_H */
