/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* libbsd's red-black tree; its static functions need a macro it lacks. */
#ifndef HARNESS_BENCH_RED_BLACK_H
#define HARNESS_BENCH_RED_BLACK_H

#include <bsd/sys/tree.h>

#ifndef __unused
#define __unused __attribute__((unused))
#endif

#endif
