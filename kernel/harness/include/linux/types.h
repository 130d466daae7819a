/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tested files need of the kernel's <linux/types.h>. */
#ifndef HARNESS_LINUX_TYPES_H
#define HARNESS_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

typedef unsigned int gfp_t;
typedef unsigned long pgoff_t;

_Static_assert(sizeof(unsigned long) == 8, "they are for 64-bit machines");

#endif
