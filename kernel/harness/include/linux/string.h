/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HARNESS_LINUX_STRING_H
#define HARNESS_LINUX_STRING_H

#include <linux/types.h>
#include <string.h>

/* Not defined: no list is read here. */
char *strim(char *text);
char *strsep(char **text, const char *delimiters);

static inline void *memset32(u32 *to, u32 value, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = value;
	return to;
}

#endif
