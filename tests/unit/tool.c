/* SPDX-License-Identifier: MIT */
#include "tool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* The status of pclose where the shell finds no such program. */
#define NOT_FOUND (127 << 8)

char *tool_run(const char *command, const char *path)
{
    char line[1024], whole[1100];
    size_t size = 0;
    char *text = NULL;
    FILE *copy = open_memstream(&text, &size);

    snprintf(line, sizeof(line), command, path); /* NOLINT: the formats are ours */
    snprintf(whole, sizeof(whole), "LC_ALL=C; export LC_ALL; %s 2>&1", line);
    FILE *pipe = popen(whole, "re");
    assert_non_null(copy);
    assert_non_null(pipe);
    for (int c; (c = getc(pipe)) != EOF;)
        putc(c, copy);
    const int status = pclose(pipe);
    fclose(copy);
    if (status == NOT_FOUND)
        print_message("a program is missing: scripts/install-deps.sh test installs it\n");
    if (status != 0)
        print_message("%s\n%s\n", line, text);
    assert_int_equal(status, 0);
    return text;
}
