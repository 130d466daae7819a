/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * STREAM's four kernel functions, a line at a time: all of a line is loaded or
 * stored before the next one is touched. So a line that is alone in its set of
 * a direct-mapped cache hits, and one that is not misses exactly once per pass,
 * also where lines of the same turn meet in a set.
 */
#ifndef HUEPAGE_STREAM_H
#define HUEPAGE_STREAM_H

#include <stddef.h>

#define LINE 64UL

/* 16 bytes: SSE2 on x86, NEON on arm64, as many accesses on both. */
typedef double vector __attribute__((vector_size(16)));

struct line {
	vector part[LINE / sizeof(vector)];
};

/* Volatile: the compiler neither reorders nor drops the accesses. */
static inline struct line line_load(const struct line *from)
{
	const volatile vector *part = from->part;

	return (struct line){ { part[0], part[1], part[2], part[3] } };
}

static inline void line_store(struct line *to, struct line line)
{
	volatile vector *part = to->part;

	part[0] = line.part[0];
	part[1] = line.part[1];
	part[2] = line.part[2];
	part[3] = line.part[3];
}

#define LINE_OF(expression)                                             \
	((struct line){ { expression(0), expression(1), expression(2), expression(3) } })

#define LINE_OF_ALL(value)                                                       \
	((struct line){ { { value, value }, { value, value }, { value, value }, { value, value } } })

static inline void stream_copy(struct line *to, const struct line *from, size_t lines)
{
	for (size_t i = 0; i < lines; i++)
		line_store(to + i, line_load(from + i));
}

static inline void stream_scale(struct line *to, const struct line *from, double factor,
				size_t lines)
{
	for (size_t i = 0; i < lines; i++) {
		struct line x = line_load(from + i);
#define SCALED(n) (factor * x.part[n])
		line_store(to + i, LINE_OF(SCALED));
	}
}

static inline void stream_add(struct line *to, const struct line *one, const struct line *two,
			      size_t lines)
{
	for (size_t i = 0; i < lines; i++) {
		struct line x = line_load(one + i);
		struct line y = line_load(two + i);
#define SUM(n) (x.part[n] + y.part[n])
		line_store(to + i, LINE_OF(SUM));
	}
}

static inline void stream_triad(struct line *to, const struct line *one, const struct line *two,
				double factor, size_t lines)
{
	for (size_t i = 0; i < lines; i++) {
		struct line x = line_load(one + i);
		struct line y = line_load(two + i);
#define TRIAD(n) (x.part[n] + factor * y.part[n])
		line_store(to + i, LINE_OF(TRIAD));
	}
}

/* The lines of a pass in its order, each once: leaves a cache as a pass would. */
static inline void stream_touch(const struct line *to, const struct line *one,
				const struct line *two, size_t lines)
{
	for (size_t i = 0; i < lines; i++) {
		(void)*(const volatile double *)(one + i);
		if (two)
			(void)*(const volatile double *)(two + i);
		(void)*(const volatile double *)(to + i);
	}
}

#endif
