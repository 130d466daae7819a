// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Workers map, touch, verify, fork and free memory by a seed, while the first process
 * compacts memory, takes memory and a CPU offline and brings them back, lets processes
 * be killed, and changes every setting of page coloring. Every page is verified before
 * it is freed.
 */
#define _GNU_SOURCE
#include "held_colors.h"
#include "stress_kernel.h"

#include <inttypes.h>
#include <time.h>

#define AREAS 8

/* Of all workers together. */
static struct counts {
	uint64_t pages_written, pages_verified, zeros_read, forks, areas, sets;
	uint32_t stop;
} *counts;
static uint64_t largest;

static void count(uint64_t *number, uint64_t more)
{
	__atomic_add_fetch(number, more, __ATOMIC_RELAXED);
}

static void verify(const struct area *area)
{
	area_verify(area);
	count(&counts->pages_verified, area->pages);
}

/* Reads private memory that was never written. */
static void read_untouched(const struct area *area)
{
	const volatile uint64_t *words = (const volatile uint64_t *)area->memory;

	for (size_t i = 0; i < area->pages * PAGE / sizeof(*words); i++)
		if (words[i])
			lab_fail("page %zu was never written and is not zero",
				 i * sizeof(*words) / PAGE);
	count(&counts->zeros_read, area->pages);
}

/*
 * The kernel may free its pages (MADV_FREE) until they are written to: its content is
 * not verified then, and all of it is written anew.
 */
static void free_lazily(struct area *area)
{
	if (madvise(area->memory, area->pages * PAGE, MADV_FREE))
		lab_fail("MADV_FREE");
}

/* The child verifies what its parent had, changes all of it, and verifies that. */
static void fork_and_copy(struct area *areas, const bool *freed, uint64_t owner)
{
	pid_t child = lab_fork();

	if (!child) {
		for (int i = 0; i < AREAS; i++) {
			int shared = areas[i].owner & 1;

			/* Files are not forked. */
			if (!areas[i].memory || shared || freed[i])
				continue;
			verify(areas + i);
			areas[i].owner = owner + 2 * i;
			for (size_t page = 0; page < areas[i].pages; page++)
				pattern_write(areas + i, page);
			count(&counts->pages_written, areas[i].pages);
			verify(areas + i);
		}
		_exit(0);
	}
	lab_wait(child, "a child");
	count(&counts->forks, 1);
}

/* A list that may be wrong: then the kernel refuses it. */
static void choose_colors(struct lab_random *random)
{
	char text[64] = "all";
	unsigned int first = lab_below(random, 300);

	if (lab_below(random, 4))
		snprintf(text, sizeof(text), "%u-%u", first,
			 first + (unsigned int)lab_below(random, 300));
	int error = write_text("/proc/self/page_colors", text);

	if (error && error != EINVAL && error != ENODEV)
		lab_fail("writing %s to /proc/self/page_colors gives error %d", text, error);
	count(&counts->sets, !error);
}

static void work(uint64_t me, uint64_t seed)
{
	struct lab_random random = { seed * 1000 + me + 1 };
	uint32_t *order = lab_map(largest * sizeof(*order));
	bool has_sets = is_there("/proc/self/page_colors");
	struct area areas[AREAS] = { 0 };
	bool freed[AREAS] = { 0 };
	uint64_t serial = 0;

	while (!__atomic_load_n(&counts->stop, __ATOMIC_RELAXED)) {
		unsigned int at = lab_below(&random, AREAS);
		struct area *area = areas + at;
		/* Different for each area; the last bit tells whether it is a file. */
		uint64_t owner = (me + 1) << 48 | ++serial << 8;

		if (has_sets && !lab_below(&random, 8))
			choose_colors(&random);
		if (freed[at]) {
			area_fill(area, &random, order);
			freed[at] = false;
			continue;
		}
		if (area->memory) {
			if (!lab_below(&random, 4)) {
				fork_and_copy(areas, freed, owner);
				continue;
			}
			verify(area);
			if (lab_below(&random, 2)) {
				area_unmap(area);
			} else if (!(area->owner & 1) && lab_below(&random, 2)) {
				free_lazily(area);
				freed[at] = true;
			}
			continue;
		}
		unsigned int kind = lab_below(&random, 3);

		area_map(area, 1 + lab_below(&random, largest), owner | (kind == 2), kind);
		if (kind != 2 && lab_below(&random, 2))
			read_untouched(area);
		area_fill(area, &random, order);
		count(&counts->pages_written, area->pages);
		count(&counts->areas, 1);
	}
	for (int i = 0; i < AREAS; i++)
		if (areas[i].memory && !freed[i])
			verify(areas + i);
	_exit(0);
}

/* Isolated pages, of which there must be none when no page moves any more. */
static void check_isolated(const char *name)
{
	const struct timespec pause = { .tv_nsec = 100 * 1000 * 1000 };

	for (int tries = 0; lab_read_named("/proc/vmstat", name); tries++) {
		if (tries == 100)
			lab_fail("%s is %" PRIu64 " when nobody moves pages", name,
				 lab_read_named("/proc/vmstat", name));
		nanosleep(&pause, NULL);
	}
}

/*
 * For a cache so large that this program counts as small. What workers hold from here on
 * is to be given back.
 */
static void color_for_large(void)
{
	lab_write(COLOR "enabled", "0");
	lab_write(COLOR "cache_size", "64M,ways=1");
	lab_write(COLOR "enabled", "1");
	sleep(1);
}

/* Nobody holds a color once all programs have ended. */
static void check_held(void)
{
	const struct timespec pause = { .tv_nsec = 100 * 1000 * 1000 };

	for (int tries = 0; held_colors(); tries++) {
		if (tries == 100)
			lab_fail("%" PRIu64 " colors are held when all programs have ended",
				 held_colors());
		nanosleep(&pause, NULL);
	}
}

/* For so long, and so often at least. */
static void disturb(uint64_t seconds, uint64_t rounds, struct lab_random *random, struct done *done)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };
	bool colors = is_there(COLOR "enabled");
	double begin = lab_seconds(), told = begin;
	uint64_t owner = UINT64_C(1) << 62;
	int ended;

	/* A cache to color for; emulated machines report none. */
	if (colors)
		lab_write(COLOR "cache_size", "4M,ways=1");
	for (uint64_t round = 0; round < rounds || lab_seconds() - begin < seconds; round++) {
		switch (lab_below(random, 10)) {
		case 0:
			lab_write("/proc/sys/vm/compact_memory", "1");
			done->compact++;
			break;
		case 1:
			lab_write("/proc/sys/vm/drop_caches", "3");
			done->drop++;
			break;
		case 2:
			stress_hotplug(random, done);
			break;
		case 3:
			if (!lab_below(random, 4))
				stress_kill(owner++, done);
			break;
		case 4:
			stress_contiguous(random, done);
			break;
		case 5:
			stress_cpu(done);
			break;
		default:
			if (colors)
				stress_color(random, done);
		}
		nanosleep(&pause, NULL);
		if (waitpid(-1, &ended, WNOHANG) > 0)
			lab_fail("a worker ended early, with status %x", ended);
		if (lab_seconds() - told > 10) {
			told = lab_seconds();
			lab_note("%.0f of %" PRIu64 " s", told - begin, seconds);
		}
	}
}

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	uint64_t seed = lab_number("seed"), workers = lab_number("workers");
	uint64_t seconds = lab_number("seconds");
	struct lab_random random = { seed };
	struct done done = { 0 };
	bool huge;

	largest = lab_number("pages");
	counts = lab_map_shared(sizeof(*counts));
	stress_group();
	huge = is_there(THP);
	/* Enables huge pages of two sizes, and lets khugepaged make larger ones. */
	if (huge) {
		lab_write(THP "hugepages-64kB/enabled", "madvise");
		lab_write(THP "khugepaged/scan_sleep_millisecs", "50");
	}
	for (uint64_t me = 0; me < workers; me++)
		if (!lab_fork())
			work(me, seed);
	disturb(seconds, lab_number("rounds"), &random, &done);
	bool colored = is_there(COLOR "enabled");

	if (colored)
		color_for_large();
	counts->stop = 1;
	for (uint64_t me = 0; me < workers; me++) {
		int status;

		if (wait(&status) < 0 || status)
			lab_fail("a worker ended with status %x", status);
	}
	check_isolated("nr_isolated_anon");
	check_isolated("nr_isolated_file");
	if (colored)
		check_held();
	lab_result("{\"seconds\":%" PRIu64 ",\"pages_written\":%" PRIu64
		   ",\"pages_verified\":%" PRIu64 ",\"zeros_read\":%" PRIu64
		   ",\"areas\":%" PRIu64 ",\"forks\":%" PRIu64
		   ",\"killed\":%" PRIu64 ",\"compact\":%" PRIu64 ",\"drop\":%" PRIu64
		   ",\"offline\":%" PRIu64 ",\"offline_refused\":%" PRIu64 ",\"online\":%" PRIu64
		   ",\"contiguous\":%" PRIu64 ",\"contiguous_refused\":%" PRIu64
		   ",\"cpu\":%" PRIu64
		   ",\"huge\":%" PRIu64 ",\"collapsed\":%" PRIu64
		   ",\"coloring\":%s,\"enabled\":%" PRIu64 ",\"disabled\":%" PRIu64
		   ",\"geometry\":%" PRIu64 ",\"table\":%" PRIu64
		   ",\"sets\":%" PRIu64 "}",
		   seconds, counts->pages_written, counts->pages_verified, counts->zeros_read,
		   counts->areas, counts->forks, done.killed, done.compact, done.drop, done.offline,
		   done.offline_refused, done.online, done.contiguous, done.contiguous_refused,
		   done.cpu,
		   huge ? lab_read_named("/proc/vmstat", "thp_fault_alloc") : 0,
		   huge ? lab_read_named("/proc/vmstat", "thp_collapse_alloc") : 0,
		   is_there(COLOR "enabled") ? "true" : "false",
		   done.enabled, done.disabled, done.geometry, done.table,
		   counts->sets);
	lab_done();
}
