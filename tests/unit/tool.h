/* SPDX-License-Identifier: MIT */
/* Programs that judge what a test wrote. */
#ifndef TESTS_TOOL_H
#define TESTS_TOOL_H

/*
 * What a command says on standard output and error; %s in it is `path`. Fails the test
 * where the status is not 0, and where the program is missing. The caller frees.
 */
char *tool_run(const char *command, const char *path);

#endif /* TESTS_TOOL_H */
