/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Locks; here there is one thread, which must not take one twice. */
#ifndef HARNESS_LINUX_SPINLOCK_H
#define HARNESS_LINUX_SPINLOCK_H

#include <stdlib.h>

typedef struct {
	int held;
} spinlock_t;

static inline void spin_lock_init(spinlock_t *lock)
{
	lock->held = 0;
}

static inline void spin_lock(spinlock_t *lock)
{
	if (lock->held++)
		abort();
}

static inline void spin_unlock(spinlock_t *lock)
{
	lock->held--;
}

#define spin_lock_irq(lock) spin_lock(lock)
#define spin_unlock_irq(lock) spin_unlock(lock)

#define spin_lock_irqsave(lock, flags)  \
	do {                            \
		if ((lock)->held++)     \
			abort();        \
		(flags) = 1;            \
	} while (0)

#define spin_unlock_irqrestore(lock, flags) \
	do {                                \
		if (!(flags))               \
			abort();            \
		(lock)->held--;             \
	} while (0)

#endif
