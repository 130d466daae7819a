/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How many pages of the processes of a load are on each color, counted by frame
 * numbers. All processes share it; each counts its own pages when all have their
 * pages.
 */
#ifndef HUEPAGE_TALLY_H
#define HUEPAGE_TALLY_H

#include "frames.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Few and small, so that counting does not fill the cache by itself. */
#define TALLY_PROCESSES 10
/* Frame numbers are below this: 4 GiB, behind which no guest has memory. */
#define TALLY_FRAMES (UINT64_C(4) << 30 >> 12)

struct tally {
	size_t colors;
	uint32_t processes;    /* that have counted their pages */
	uint64_t rounds;       /* of the neighbor, while pages were touched */
	uint64_t huge_pages;   /* of those counted, mapped as part of larger ones */
	char skipped[160];     /* why the kernel cannot do it */
	char more[256];        /* of the result: further members of the object */
	pthread_barrier_t all; /* of the processes */
	uint64_t *seen;        /* a bit per frame: processes may share one */
	uint32_t *together;    /* pages by color, each frame once */
	uint32_t *own[TALLY_PROCESSES];
};

struct tally_figures {
	size_t pages;
	double within, across;
	uint32_t spread;
};

static inline struct tally *tally_new(size_t colors)
{
	struct tally *tally = lab_map_shared(sizeof(*tally));

	tally->colors = colors;
	tally->seen = lab_map_shared(TALLY_FRAMES / 8);
	tally->together = lab_map_shared(colors * sizeof(uint32_t));
	for (int i = 0; i < TALLY_PROCESSES; i++)
		tally->own[i] = lab_map_shared(colors * sizeof(uint32_t));
	return tally;
}

/* Before each load; so many processes will wait for each other. */
static inline void tally_begin(struct tally *tally)
{
	tally->processes = 0;
	tally->rounds = tally->huge_pages = 0;
	tally->skipped[0] = tally->more[0] = 0;
	memset(tally->seen, 0, TALLY_FRAMES / 8);
	memset(tally->together, 0, tally->colors * sizeof(uint32_t));
	for (int i = 0; i < TALLY_PROCESSES; i++)
		memset(tally->own[i], 0, tally->colors * sizeof(uint32_t));
}

/* A process has one number, which counts several of its mappings. */
static inline uint32_t tally_process(struct tally *tally)
{
	uint32_t number = __atomic_fetch_add(&tally->processes, 1, __ATOMIC_RELAXED);

	if (number >= TALLY_PROCESSES)
		lab_fail("more than %d processes", TALLY_PROCESSES);
	return number;
}

/* Counts the pages of a mapping, which must be there. */
static inline void tally_pages(struct tally *tally, uint32_t process, const void *memory,
			       size_t pages)
{
	uint64_t *frames = malloc(pages * sizeof(*frames) + 1);

	if (!frames)
		lab_fail("memory for %zu frame numbers", pages);
	frames_of(memory, pages, frames);
	frames_count(frames, pages, tally->own[process], tally->colors);
	for (size_t i = 0; i < pages; i++) {
		uint64_t frame = frames[i], bit = UINT64_C(1) << frame % 64;

		if (frame >= TALLY_FRAMES)
			lab_fail("frame %#lx is beyond 4 GiB", (unsigned long)frame);
		if (!(__atomic_fetch_or(&tally->seen[frame / 64], bit, __ATOMIC_RELAXED) & bit))
			__atomic_fetch_add(&tally->together[frame % tally->colors], 1,
					   __ATOMIC_RELAXED);
	}
	free(frames);
}

static inline size_t tally_conflicts(const uint32_t *by_color, size_t colors, size_t *pages)
{
	size_t conflicts = 0;

	for (size_t i = 0; i < colors; i++) {
		*pages += by_color[i];
		conflicts += by_color[i] > 1 ? by_color[i] : 0;
	}
	return conflicts;
}

static inline struct tally_figures tally_figures(const struct tally *tally)
{
	struct tally_figures figures = { 0 };
	size_t within = 0, different = 0;

	for (uint32_t p = 0; p < tally->processes; p++) {
		const uint32_t *own = tally->own[p];
		uint32_t least = UINT32_MAX, most = 0;

		within += tally_conflicts(own, tally->colors, &figures.pages);
		for (size_t i = 0; i < tally->colors; i++) {
			least = own[i] < least ? own[i] : least;
			most = own[i] > most ? own[i] : most;
		}
		figures.spread = most - least > figures.spread ? most - least : figures.spread;
	}
	if (!figures.pages)
		return figures;
	figures.within = (double)within / figures.pages;
	size_t across = tally_conflicts(tally->together, tally->colors, &different);

	figures.across = (double)across / different;
	return figures;
}

/* All processes of a load meet: before they count, and before one ends. */
static inline void tally_expect(struct tally *tally, unsigned int processes)
{
	pthread_barrierattr_t shared;

	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	errno = pthread_barrier_init(&tally->all, &shared, processes);
	if (errno)
		lab_fail("make a barrier of %u processes", processes);
}

static inline void tally_meet(struct tally *tally)
{
	pthread_barrier_wait(&tally->all);
}

#endif
