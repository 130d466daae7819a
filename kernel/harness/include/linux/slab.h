/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HARNESS_LINUX_SLAB_H
#define HARNESS_LINUX_SLAB_H

#include <linux/overflow.h>
#include <linux/types.h>

#define GFP_KERNEL_ACCOUNT 0
#define __GFP_NOWARN 0
#define __GFP_NORETRY 0
#define __GFP_MOVABLE 1

/* Defined by the program that links them. */
void *kvzalloc(size_t bytes, gfp_t gfp);
void *kvcalloc(size_t nr, size_t bytes, gfp_t gfp);
void kvfree(const void *memory);

#endif
