/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Shared by the guests for KSM: one worker process per node whose pages have known
 * contents.
 *
 * An area holds `contents` different pages, `copies` times each, the same in every
 * worker, and then `unique` pages that no other worker has. CPU n belongs to node
 * n.
 */
#ifndef HUEPAGE_KSM_H
#define HUEPAGE_KSM_H

#include "page_words.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_NODES 8
#define MAX_AREAS 2
#define BIND_POLICY 2 /* MPOL_BIND of linux/mempolicy.h */

enum order { FILL, READ_BEFORE, READ_AFTER, VERIFY, MOVE };

/* What a worker is to do with an area; `cpu` is where it moves to. */
struct request {
	enum order order;
	int area;
	int cpu;
};

struct worker {
	pid_t pid;
	int ask, answer;
};

static struct worker workers[MAX_NODES];
static uint64_t *areas[MAX_AREAS];
static uint64_t seed, nodes, contents, copies, unique, pages;
static uint64_t turns; /* pages read by chance; 0: each once */
static uint64_t base, size; /* of the memory of nodes, as in ksm_frames.h */
static int binds_memory;

/* Different in every word, and from page to page already in the first. */
static inline uint64_t first_word(int worker, int area, uint64_t page)
{
	int shared = page < contents * copies;
	struct lab_random random = {
		seed ^ (uint64_t)(area + 1) << 48 ^ (shared ? 0 : (uint64_t)(worker + 1) << 40) ^
			(shared ? page % contents : page) << 8,
	};

	lab_next(&random);
	return lab_next(&random);
}

static inline void fill(int worker, int area)
{
	if (madvise(areas[area], pages * PAGE, MADV_MERGEABLE))
		lab_fail("madvise MADV_MERGEABLE");
	for (uint64_t page = 0; page < pages; page++)
		page_fill(areas[area] + page * WORDS, first_word(worker, area, page), NEXT_WORD);
}

static inline uint64_t count_wrong(int worker, int area)
{
	uint64_t wrong = 0;

	for (uint64_t page = 0; page < pages; page++)
		wrong += !page_holds(areas[area] + page * WORDS, first_word(worker, area, page),
				     NEXT_WORD);
	return wrong;
}

/* One load per line of 64 bytes; nothing else is accessed. */
static inline void read_lines(const volatile uint64_t *line, const volatile uint64_t *end)
{
	for (; line < end; line += 8)
		(void)*line;
}

/* All pages once; or so many of them, each by chance (xorshift64). */
static inline void read_pages(const uint64_t *area, uint64_t count, uint64_t turns, uint64_t state)
{
	if (!turns)
		read_lines(area, area + count * WORDS);
	while (turns--) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		const uint64_t *page = area + ((state >> 32) * count >> 32) * WORDS;

		read_lines(page, page + WORDS);
	}
}

/* A worker's order of pages: the same before and after merging. */
static inline uint64_t first_state(int worker)
{
	struct lab_random random = { seed ^ (uint64_t)(worker + 1) << 32 };

	return lab_next(&random) | 1;
}

/* Separate functions, so that all they need is in registers. */
static __attribute__((noinline, unused)) void read_before(const uint64_t *area, uint64_t count,
							  uint64_t turns, uint64_t state)
{
	REGION_BEGIN(1);
	read_pages(area, count, turns, state);
	REGION_END(1);
}

static __attribute__((noinline, unused)) void read_after(const uint64_t *area, uint64_t count,
							 uint64_t turns, uint64_t state)
{
	REGION_BEGIN(2);
	read_pages(area, count, turns, state);
	REGION_END(2);
}

/* As numactl --membind does it, for the process; or for its areas only. */
static inline void bind(int node)
{
	unsigned long mask = 1UL << node;

	if (!binds_memory) {
		if (syscall(SYS_set_mempolicy, BIND_POLICY, &mask, 8 * sizeof(mask)))
			lab_fail("set_mempolicy to node %d", node);
		return;
	}
	for (int area = 0; area < MAX_AREAS; area++)
		if (syscall(SYS_mbind, areas[area], pages * PAGE, BIND_POLICY, &mask,
			    8 * sizeof(mask), 0))
			lab_fail("mbind to node %d", node);
}

/*
 * Sleeps until shortly after a tick (100 in a second, at whole multiples of it),
 * so that the next interrupt is far.
 */
static inline void leave_tick_behind(void)
{
	const long tick = 10000000;
	struct timespec when;

	clock_gettime(CLOCK_MONOTONIC, &when);
	when.tv_nsec = (when.tv_nsec / tick + 1) * tick + tick / 10;
	if (when.tv_nsec >= 1000000000) {
		when.tv_nsec -= 1000000000;
		when.tv_sec++;
	}
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
}

static inline uint64_t obey(int worker, struct request request)
{
	const uint64_t *area = areas[request.area];

	switch (request.order) {
	case FILL:
		fill(worker, request.area);
		break;
	case READ_BEFORE:
		leave_tick_behind();
		read_before(area, pages, turns, first_state(worker));
		break;
	case READ_AFTER:
		leave_tick_behind();
		read_after(area, pages, turns, first_state(worker));
		break;
	case VERIFY:
		return count_wrong(worker, request.area);
	case MOVE:
		lab_run_on(request.cpu);
		bind(request.cpu);
		break;
	}
	return 0;
}

static inline void work(int worker, int questions, int answers)
{
	struct request request;

	lab_run_on(worker);
	bind(worker);
	while (read(questions, &request, sizeof(request)) == sizeof(request)) {
		uint64_t answer = obey(worker, request);

		if (write(answers, &answer, sizeof(answer)) != sizeof(answer))
			break;
	}
	_exit(0);
}

static inline uint64_t ask(int worker, enum order order, int area, int cpu)
{
	struct request request = { order, area, cpu };
	uint64_t answer;

	if (write(workers[worker].ask, &request, sizeof(request)) != sizeof(request) ||
	    read(workers[worker].answer, &answer, sizeof(answer)) != sizeof(answer))
		lab_fail("worker %d is gone", worker);
	return answer;
}

/*
 * Asks one worker after the other, so that only one runs; the sum of the answers.
 */
static inline uint64_t ask_all(enum order order, int area)
{
	uint64_t sum = 0;

	for (uint64_t worker = 0; worker < nodes; worker++)
		sum += ask(worker, order, area, worker);
	return sum;
}

static inline void start_workers(void)
{
	seed = lab_number("seed");
	nodes = lab_number("nodes");
	contents = lab_number("contents");
	copies = lab_number("copies");
	unique = lab_number("unique");
	base = lab_number("base");
	size = lab_number("size");
	binds_memory = !strcmp(lab_text("bind"), "memory");
	pages = contents * copies + unique;
	if (!nodes || nodes > MAX_NODES || !contents || !copies)
		lab_fail("1 to %d nodes, and pages", MAX_NODES);
	for (int area = 0; area < MAX_AREAS; area++)
		areas[area] = lab_map(pages * PAGE);
	for (uint64_t i = 0; i < nodes; i++) {
		int questions[2], answers[2];

		if (pipe(questions) || pipe(answers))
			lab_fail("pipe");
		workers[i] = (struct worker){ lab_fork(), questions[1], answers[0] };
		if (!workers[i].pid)
			work(i, questions[0], answers[1]);
	}
}

#endif
