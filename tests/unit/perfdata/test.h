/* SPDX-License-Identifier: MIT */
/* cmocka and what it wants to be included before it. */
#ifndef TEST_PERFDATA_TEST_H
#define TEST_PERFDATA_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif /* TEST_PERFDATA_TEST_H */
