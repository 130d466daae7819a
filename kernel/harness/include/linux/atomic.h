/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Counters; here there is one thread. */
#ifndef HARNESS_LINUX_ATOMIC_H
#define HARNESS_LINUX_ATOMIC_H

typedef struct {
	int counter;
} atomic_t;

static inline int atomic_read(const atomic_t *v)
{
	return v->counter;
}

static inline void atomic_set(atomic_t *v, int value)
{
	v->counter = value;
}

static inline int atomic_add_return(int i, atomic_t *v)
{
	return v->counter += i;
}

static inline void atomic_add(int more, atomic_t *v)
{
	v->counter += more;
}

static inline int atomic_cmpxchg(atomic_t *v, int old, int value)
{
	int before = v->counter;

	if (before == old)
		v->counter = value;
	return before;
}

typedef struct {
	unsigned long long counter;
} atomic64_t;

static inline unsigned long long atomic64_read(const atomic64_t *v)
{
	return v->counter;
}

static inline void atomic64_set(atomic64_t *v, unsigned long long value)
{
	v->counter = value;
}

static inline void atomic64_inc(atomic64_t *v)
{
	v->counter++;
}

static inline unsigned long long atomic64_inc_return(atomic64_t *v)
{
	return ++v->counter;
}

#define smp_store_release(place, value) ((void)(*(place) = (value)))

#endif
