/* SPDX-License-Identifier: MIT */
/* Commands: argv[0] is the command's name, and what they return is the exit status. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdlib.h>

#define EXIT_USAGE 2

int command_inject(int argc, char **argv);
int command_map(int argc, char **argv);

/* The last thing that a command does: what was printed may have been lost, which nobody would see.
 */
int command_finish(void);

#endif /* CLI_COMMAND_H */
