/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the index needs of the kernel's <linux/math64.h>. */
#ifndef HARNESS_LINUX_MATH64_H
#define HARNESS_LINUX_MATH64_H

#include <linux/types.h>

__extension__ typedef unsigned __int128 harness_u128;

static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return (u64)((harness_u128)a * b >> shift);
}

#endif
