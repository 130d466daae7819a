/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the kernel's <linux/bitops.h> has of words. */
#ifndef HARNESS_LINUX_BITOPS_H
#define HARNESS_LINUX_BITOPS_H

#include <linux/types.h>

static inline unsigned long hweight64(u64 word)
{
	return (unsigned long)__builtin_popcountll(word);
}

static inline unsigned long __ffs64(u64 word)
{
	return (unsigned long)__builtin_ctzll(word);
}

#endif
