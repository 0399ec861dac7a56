/* SPDX-License-Identifier: MIT */
/* Programs that judge what a test wrote. */
#ifndef TESTS_TOOL_H
#define TESTS_TOOL_H

/*
 * What a command says on standard output and error; %s in it is `path`. Skips the test where the
 * program is missing, and fails it where the status is not 0. The caller frees.
 */
char *tool_run(const char *command, const char *path);

#endif /* TESTS_TOOL_H */
