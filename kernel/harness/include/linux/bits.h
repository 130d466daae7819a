/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HARNESS_LINUX_BITS_H
#define HARNESS_LINUX_BITS_H

#define BIT(nr) (1UL << (nr))
#define BIT_ULL(nr) (1ULL << (nr))
#define GENMASK_ULL(high, low) (~0ULL >> (63 - (high)) & ~0ULL << (low))

#endif
