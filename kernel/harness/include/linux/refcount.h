/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* References; here there is one thread. */
#ifndef HARNESS_LINUX_REFCOUNT_H
#define HARNESS_LINUX_REFCOUNT_H

#include <linux/types.h>

typedef struct {
	unsigned int refs;
} refcount_t;

static inline unsigned int refcount_read(const refcount_t *count)
{
	return count->refs;
}

static inline void refcount_set(refcount_t *count, unsigned int refs)
{
	count->refs = refs;
}

static inline bool refcount_inc_not_zero(refcount_t *count)
{
	return count->refs && count->refs++;
}

static inline bool refcount_dec_and_test(refcount_t *count)
{
	return !--count->refs;
}

#endif
