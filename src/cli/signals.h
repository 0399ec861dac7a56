/* SPDX-License-Identifier: MIT */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

/* Has the program end by the signals that users send as if they were not handled, but leave no file
 * of a temporary name. */
void signals_prepare(void);
/*
 * For a recording that comes by a pipe. Ctrl-C goes to all programs of it: it is how perf record is
 * ended, which then writes the rest, and that is to be read. The second one ends this program.
 */
void signals_pass_over_first_interrupt(void);

#endif /* CLI_SIGNALS_H */
