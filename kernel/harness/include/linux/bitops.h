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

static inline unsigned long __ffs(unsigned long word)
{
	return (unsigned long)__builtin_ctzl(word);
}

static inline unsigned long __fls(unsigned long word)
{
	return 63UL - (unsigned long)__builtin_clzl(word);
}

static inline unsigned int fls64(u64 word)
{
	return word ? 64U - (unsigned int)__builtin_clzll(word) : 0;
}

#endif
