/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the index needs of the kernel's <linux/bitops.h>. */
#ifndef HARNESS_LINUX_BITOPS_H
#define HARNESS_LINUX_BITOPS_H

/* As in the kernel, the word must not be 0. */
static inline unsigned long __ffs(unsigned long word)
{
	return (unsigned long)__builtin_ctzl(word);
}

static inline unsigned long __fls(unsigned long word)
{
	return 63 - (unsigned long)__builtin_clzl(word);
}

static inline unsigned long hweight_long(unsigned long word)
{
	return (unsigned long)__builtin_popcountl(word);
}

#endif
