// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A system that goes on allocating: a cursor takes the next color that there
 * is, and for each frame taken, one that was taken long ago, drawn by chance,
 * is given back. Draws are made before a batch is timed.
 */
#define _POSIX_C_SOURCE 200809L
#include "measure.h"

#include <stdlib.h>
#include <time.h>

#include "../numbers.h"
#include "memory.h"

#define BATCH 4096
/* Batches in which subjects are compared. */
#define FIRST_BATCHES 16
#define MOST_BATCHES 64
#define LEAST_BATCHES 3
#define ENOUGH_NANOSECONDS 20e6

struct system {
	const struct subject *subject;
	const struct scenario *scenario;
	struct numbers numbers;
	uint32_t cursor;
	/* The frames that are not free. */
	uint32_t *used;
	uint32_t used_count;
	uint64_t taken;
};

/* Of this thread: what else runs does not count. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static bool is_free(uint64_t seed, uint32_t frame, uint32_t free_share)
{
	struct numbers numbers = { .state = seed + frame };

	return (numbers_chance(&numbers) & 0xffff) < free_share;
}

/* All frames but one in 2^16 may be free: there must be some to give back. */
static void fill(struct system *system, uint32_t free_share, uint64_t seed)
{
	const struct scenario *scenario = system->scenario;
	uint32_t frames = scenario->frames, colors = scenario->colors;
	/* Odd and no divisor: comes to each frame once, far from the last. */
	uint64_t far = frames / 3 * 2 + 1;

	for (uint32_t frame = 0; frame < frames; frame++)
		if (!is_free(seed, frame, free_share))
			system->used[system->used_count++] = frame;
	if (system->subject->by_color) {
		for (uint32_t color = 0; color < colors; color++)
			for (uint32_t frame = color; frame < frames;
			     frame += colors)
				if (is_free(seed, frame, free_share))
					system->subject->push(frame);
		return;
	}
	for (uint32_t i = 0; i < frames; i++) {
		uint32_t frame = (uint32_t)(i * far % frames);

		if (is_free(seed, frame, free_share))
			system->subject->push(frame);
	}
}

/* Returns its nanoseconds. */
static double batch(struct system *system)
{
	const struct subject *subject = system->subject;
	uint32_t mask = system->scenario->colors - 1;
	uint32_t cursor = system->cursor;
	static uint32_t slots[BATCH], out[BATCH], in[BATCH];
	double begin, end;

	/* Each slot once, or a frame were given back twice. */
	for (uint32_t i = 0; i < BATCH; i++) {
		uint32_t part = system->used_count / BATCH;

		slots[i] = i * part +
			   (uint32_t)numbers_below(&system->numbers, part);
		in[i] = system->used[slots[i]];
	}
	/* Neither by frame nor by color. */
	for (uint32_t i = BATCH - 1; i; i--) {
		uint32_t j = (uint32_t)numbers_below(&system->numbers, i + 1);
		uint32_t slot = slots[i], frame = in[i];

		slots[i] = slots[j];
		in[i] = in[j];
		slots[j] = slot;
		in[j] = frame;
	}

	begin = now();
	for (uint32_t i = 0; i < BATCH; i++) {
		out[i] = subject->pop(cursor);
		cursor = (out[i] + 1) & mask;
		subject->push(in[i]);
	}
	end = now();

	system->cursor = cursor;
	for (uint32_t i = 0; i < BATCH; i++) {
		system->used[slots[i]] = out[i];
		system->taken = system->taken * 31 + (out[i] & mask);
	}
	return end - begin;
}

static int by_value(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

struct system *system_make(const struct subject *subject,
			   const struct scenario *scenario,
			   uint32_t free_share, uint64_t seed)
{
	struct system *system = memory_get(sizeof(*system));

	system->subject = subject;
	system->scenario = scenario;
	system->numbers.state = seed;
	system->used = memory_get(scenario->frames * sizeof(*system->used));
	subject->make(scenario);
	fill(system, free_share, seed);
	for (int i = 0; i < FIRST_BATCHES; i++)
		batch(system);
	return system;
}

uint64_t system_taken(const struct system *system)
{
	return system->taken;
}

double system_time(struct system *system)
{
	double times[MOST_BATCHES], all = 0;
	int count = 0;

	/* Another subject's turn emptied the caches. */
	batch(system);
	while (count < MOST_BATCHES &&
	       (count < LEAST_BATCHES || all < ENOUGH_NANOSECONDS)) {
		times[count] = batch(system);
		all += times[count++];
	}
	qsort(times, (size_t)count, sizeof(*times), by_value);
	return times[count / 2] / BATCH;
}

void system_destroy(struct system *system)
{
	system->subject->destroy();
	memory_put(system->used,
		   system->scenario->frames * sizeof(*system->used));
	memory_put(system, sizeof(*system));
}
