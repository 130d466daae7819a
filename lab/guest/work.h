/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The four kernel functions of STREAM over arrays that one worker, two threads
 * or two processes touch for the first time, in order or at random.
 */
#ifndef HUEPAGE_WORK_H
#define HUEPAGE_WORK_H

#include "frames.h"
#include "settle.h"
#include "stream.h"
#include "turns.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define FACTOR 3.0

enum { A, B, C, ARRAYS };
enum touch { ORDERED, AT_RANDOM, THREADS, PROCESSES };

struct told {
	size_t huge_bytes; /* of the arrays in huge pages */
	size_t moved;      /* pages that the kernel moved to other frames meanwhile */
};

struct work {
	enum touch touch;
	bool huge;
	size_t pages;       /* of one array, all workers together */
	char *memory;       /* for the arrays if they shall be there, else NULL */
	uint64_t *frames;   /* of the pages of all arrays, array by array */
	struct told *told;  /* both shared by all workers */
	struct turns *turns;
	uint32_t *order; /* for touching at random */
	struct lab_random random;
};

/* A worker's part of the arrays: so many pages of each, from this one on. */
struct part {
	struct work *work;
	uint32_t me;
	size_t from, pages;
	struct line *array[ARRAYS];
};

/* For arrays of at most so many pages; what it needs besides them is settled here. */
static inline struct work work_new(const char *touch, size_t largest, uint64_t seed)
{
	static const char *const names[] = { "ordered", "random", "threads", "processes" };
	struct work work = { .random = { seed } };

	while (strcmp(names[work.touch], touch))
		if (++work.touch > PROCESSES)
			lab_fail("touch=%s: nobody touches arrays like this", touch);
	work.turns = turns_new(work.touch < THREADS ? 1 : 2);
	work.frames = lab_map_shared(ARRAYS * largest * sizeof(*work.frames));
	work.told = lab_map_shared(sizeof(*work.told));
	if (work.touch == AT_RANDOM) {
		work.order = lab_map(ARRAYS * largest * sizeof(*work.order));
		memset(work.order, 0, ARRAYS * largest * sizeof(*work.order));
	}
	if (work.turns->workers > 1)
		lab_run_on(0);
	return work;
}

static inline size_t work_huge_bytes(void)
{
	return lab_read_named("/proc/self/smaps_rollup", "AnonHugePages:") << 10;
}

/* Room for arrays of `pages` each; `mapped` is what to unmap, of so many bytes. */
static inline char *work_map(const struct work *work, size_t pages, char **mapped, size_t *bytes)
{
	if (work->memory) {
		*mapped = NULL;
		return work->memory;
	}
	*bytes = ARRAYS * pages * PAGE + HUGE_PAGE;
	*mapped = lab_map(*bytes);
	char *memory = (char *)(((uintptr_t)*mapped + HUGE_PAGE - 1) & -HUGE_PAGE);

	if (madvise(memory, ARRAYS * pages * PAGE, work->huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
		lab_fail("choose the size of pages");
	return memory;
}

/* All take as many turns: of an odd number of pages one has one more than the other. */
static inline size_t part_turns(const struct part *part)
{
	uint32_t workers = part->work->turns->workers;

	return (part->work->pages + workers - 1) / workers;
}

/* A page of each array in a turn; what the pages hold is what STREAM begins with. */
static inline void part_touch(const struct part *part)
{
	struct work *work = part->work;
	struct turns *turns = work->turns;
	const size_t lines = PAGE / LINE;

	if (work->touch == AT_RANDOM) {
		size_t all = ARRAYS * part->pages;

		for (size_t i = 0; i < all; i++)
			work->order[i] = i;
		lab_shuffle(&work->random, work->order, all);
		for (size_t i = 0; i < all; i++)
			*((volatile char *)part->array[A] + work->order[i] * PAGE) = 0;
	}
	for (size_t page = 0; page < part_turns(part); page++) {
		turn_wait(turns, part->me);
		size_t from = page < part->pages ? page * lines : part->pages * lines;
		size_t to = page < part->pages ? from + lines : from;

		for (size_t i = from; i < to; i++) {
			line_store(part->array[A] + i, LINE_OF_ALL(1));
			line_store(part->array[B] + i, LINE_OF_ALL(2));
			line_store(part->array[C] + i, LINE_OF_ALL(0));
		}
		turn_pass(turns, part->me);
	}
}

static inline void part_frames(const struct part *part)
{
	struct work *work = part->work;

	for (int n = 0; n < ARRAYS; n++)
		frames_of(part->array[n], part->pages,
			  work->frames + n * work->pages + part->from);
}

/* Adds to the results. Only one worker may call it at a time. */
static inline void part_tell(const struct part *part)
{
	struct work *work = part->work;

	for (int n = 0; n < ARRAYS; n++)
		for (size_t i = 0; i < part->pages; i++) {
			const char *page = (const char *)part->array[n] + i * PAGE;
			uint64_t now;

			frames_of(page, 1, &now);
			work->told->moved += now != work->frames[n * work->pages + part->from + i];
		}
}

static inline void part_check(const struct part *part)
{
	const double values[] = { FACTOR + FACTOR * (1 + FACTOR), FACTOR, 1 + FACTOR };

	for (int n = 0; n < ARRAYS; n++)
		for (size_t i = 0; i < part->pages * PAGE / LINE; i++)
			if (part->array[n][i].part[i % 4][i % 2] != values[n])
				lab_fail("%c holds %g at line %zu, not %g", "abc"[n],
					 part->array[n][i].part[i % 4][i % 2], i, values[n]);
}

/* One worker's share of everything. The first one marks the regions. */
static inline void part_do(const struct part *part)
{
	struct line *a = part->array[A], *b = part->array[B], *c = part->array[C];
	size_t lines = part->pages * PAGE / LINE;
	struct turns *turns = part->work->turns;
	uint32_t me = part->me;

	part_touch(part);
#define TURN(mark, work)                \
	do {                            \
		turn_wait(turns, me);   \
		if (!me) {              \
			mark;           \
		}                       \
		work;                   \
		turn_pass(turns, me);   \
	} while (0)
#define PASS(id, touch, work)                               \
	do {                                                \
		TURN(REGION_BEGIN(0), touch);               \
		TURN(REGION_END(0); REGION_BEGIN(id), work); \
		TURN(REGION_END(id), );                     \
	} while (0)
	TURN(settle(), );
	/* In turns: reads by the kernel would be counted in the other's region. */
	TURN(, part_frames(part));
	PASS(1, stream_touch(c, a, NULL, lines), stream_copy(c, a, lines));
	PASS(2, stream_touch(b, c, NULL, lines), stream_scale(b, c, FACTOR, lines));
	PASS(3, stream_touch(c, a, b, lines), stream_add(c, a, b, lines));
	PASS(4, stream_touch(a, b, c, lines), stream_triad(a, b, c, FACTOR, lines));
	TURN(, part_tell(part));
	part_check(part);
}

/* The whole of it for threads and a single worker, a share for a process. */
static inline struct part work_part(struct work *work, uint32_t me)
{
	size_t half = work->pages / 2;
	struct part part = { .work = work, .me = me, .pages = work->pages };

	if (work->turns->workers > 1) {
		part.from = me ? half : 0;
		part.pages = me ? work->pages - half : half;
	}
	return part;
}

static inline void part_place(struct part *part, char *memory, size_t pages, size_t from)
{
	for (int n = 0; n < ARRAYS; n++)
		part->array[n] = (struct line *)(memory + (n * pages + from) * PAGE);
}

static inline void *part_thread(void *part)
{
	lab_run_on(1);
	part_do(part);
	return NULL;
}

/* Arrays of work->pages come, are worked on by all workers, and go. */
static inline void work_do(struct work *work)
{
	struct part mine = work_part(work, 0), other = work_part(work, 1);
	size_t bytes = 0, pages = work->touch == PROCESSES ? mine.pages : work->pages;
	pthread_t thread;
	pid_t child = 0;
	char *mapped;

	*work->told = (struct told){ 0 };
	if (work->touch == PROCESSES && !(child = lab_fork())) {
		lab_run_on(1);
		part_place(&other, work_map(work, other.pages, &mapped, &bytes), other.pages, 0);
		part_do(&other);
		work->told->huge_bytes += work_huge_bytes();
		_exit(0);
	}
	char *memory = work_map(work, pages, &mapped, &bytes);

	part_place(&mine, memory, pages, 0);
	part_place(&other, memory, pages, other.from);
	if (work->touch == THREADS && (errno = pthread_create(&thread, NULL, part_thread, &other)))
		lab_fail("begin a thread");
	part_do(&mine);
	if (child)
		lab_wait(child, "the other process");
	if (work->touch == THREADS && (errno = pthread_join(thread, NULL)))
		lab_fail("end a thread");
	work->told->huge_bytes += work_huge_bytes();
	if (mapped)
		munmap(mapped, bytes);
}

#endif
