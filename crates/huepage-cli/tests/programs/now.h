/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <time.h>

/* In seconds. */
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
