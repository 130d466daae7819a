// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Programs whose pages get colors while other programs run: many loads, one after the
 * other, on a fresh machine and after days of other work. Prints a line per load.
 */
#define _GNU_SOURCE
#include "coloring.h"
#include "free_blocks.h"
#include "mixed_days.h"
#include "mixed_huge.h"
#include "mixed_memory.h"
#include "mixed_moves.h"
#include "mixed_processes.h"
#include "mixed_reclaim.h"
#include "mixed_shared.h"
#include "settle.h"

static const struct load {
	const char *name;
	void (*run)(struct mixed *mixed);
	bool beside; /* a neighbor, on the same CPU and on the other one */
} loads[] = {
	{ "alone", load_alone, false },
	{ "alone-random", load_alone_random, false },
	{ "anon-churn", load_anon_churn, true },
	{ "file-churn", load_file_churn, true },
	{ "forks", load_forks, true },
	{ "stream", load_stream, true },
	{ "half-huge", load_half_huge, false },
	{ "thp-always", load_thp_always, false },
	{ "mthp", load_mthp, false },
	{ "refault", load_refault, false },
	{ "processes-2", load_processes_2, false },
	{ "processes-4", load_processes_4, false },
	{ "processes-8", load_processes_8, false },
	{ "copy-on-write", load_copy_on_write, false },
	{ "server", load_server, false },
	{ "threads", load_threads, false },
	{ "tmpfs", load_tmpfs, false },
	{ "three-kinds", load_three_kinds, false },
	{ "thp-faults", load_thp_faults, false },
	{ "swap", load_swap, false },
	{ "ksm", load_ksm, false },
	{ "compaction", load_compaction, true },
	{ "collapse", load_collapse, false },
	{ "khugepaged", load_khugepaged, false },
	{ "offlining", load_offlining, false },
	{ "memcg", load_memcg, true },
	{ "shrunk", load_shrunk, false },
	{ "kcompactd", load_kcompactd, true },
	{ "thp-pieces", load_thp_pieces, false },
	{ "late-huge", load_late_huge, false },
	{ "lazy-free", load_lazy_free, false },
	{ "late-mthp", load_late_mthp, false },
	{ "huge-threads", load_huge_threads, false },
	{ "huge-processes", load_huge_processes, false },
	{ "huge-beside-small", load_huge_beside_small, false },
	{ "mthp-behind", load_mthp_behind, false },
	{ "turnover", load_turnover, false },
	{ "turnover-huge", load_turnover_huge, false },
	{ "beside-shrunk", load_beside_shrunk, false },
	{ "at-rest", load_at_rest, false },
	{ "nodes-2", load_on_node, false },
	{ "numa-balancing", load_balancing, false },
	{ "mbind", load_mbind, false },
};

static struct lab_random seeds;
static struct tally *tally;
static unsigned int today;

/* A neighbor that was killed leaves its children to this process. */
static void reap_orphans(void)
{
	while (waitpid(-1, NULL, 0) > 0)
		;
	if (errno != ECHILD)
		lab_fail("wait for what a load left");
	errno = 0;
}

/* One load in a separate process, so that none of its memory stays; node -1 is any. */
static void run(const struct load *load, const char *cpu, int node, const char *fill)
{
	struct mixed mixed = {
		.random = { lab_next(&seeds) },
		.tally = tally,
		.pages = strtod(fill, NULL) * tally->colors,
		.cpu = cpu ? cpu : "other",
		.node = node,
	};
	char where[64] = "", conflicts[256] = "";

	lab_note("day %u: %s %s %s", today, load->name, fill, cpu ? cpu : "");
	tally_begin(tally);
	double free_before = free_in_largest();
	pid_t child = lab_fork();

	if (!child) {
		lab_run_on(SUBJECT_CPU);
		load->run(&mixed);
		_exit(0);
	}
	lab_wait(child, "a child");
	reap_orphans();
	thp_reset();
	if (cpu)
		snprintf(where, sizeof(where), ",\"cpu\":\"%s\"", cpu);
	if (node >= 0)
		snprintf(where, sizeof(where), ",\"node\":%d", node);
	if (tally->skipped[0]) {
		lab_result("{\"load\":\"%s\",\"day\":%u,\"fill\":%s%s,\"skipped\":\"%s\"}",
			   load->name, today, fill, where, tally->skipped);
		return;
	}
	struct tally_figures figures = tally_figures(tally);

	if (tally->processes)
		snprintf(conflicts, sizeof(conflicts),
			 ",\"pages\":%zu,\"conflict_within\":%.6f,\"conflict_across\":%.6f"
			 ",\"spread\":%u,\"huge_share\":%.6f,\"neighbor_rounds\":%lu",
			 figures.pages, figures.within, figures.across, figures.spread,
			 (double)tally->huge_pages / figures.pages, (unsigned long)tally->rounds);
	lab_result("{\"load\":\"%s\",\"day\":%u,\"fill\":%s%s,\"free_in_largest\":%.6f%s%s}",
		   load->name, today, fill, where, free_before, conflicts, tally->more);
}

/* Calls for each word of a list with commas. */
static void each(const char *list, void (*call)(const char *word, const void *context),
		 const void *context)
{
	char *words = strdup(list), *rest = words, *word;

	if (!words)
		lab_fail("memory for a list");
	while ((word = strsep(&rest, ",")))
		call(word, context);
	free(words);
}

static void run_fill(const char *fill, const void *load)
{
	run(load, NULL, -1, fill);
}

static void run_load(const char *name, const void *nothing)
{
	const struct load *load = loads, *end = loads + sizeof(loads) / sizeof(*loads);

	(void)nothing;
	while (load < end && strcmp(load->name, name))
		load++;
	if (load == end)
		lab_fail("there is no load '%s'", name);
	if (!strcmp(name, "alone")) {
		each(lab_text("fills"), run_fill, load);
	} else if (!strcmp(name, "refault")) {
		run(load, NULL, -1, "0.94");
		run(load, NULL, -1, "0.5");
	} else if (load->run == load_on_node) {
		run(load, NULL, 0, "0.94");
		run(load, NULL, 1, "0.94");
	} else if (load->beside) {
		/*
		 * For loads that test compaction and a group's limit, one CPU is enough.
		 */
		if (load->run != load_compaction && load->run != load_kcompactd &&
		    load->run != load_memcg)
			run(load, "same", -1, "0.94");
		run(load, "other", -1, "0.94");
	} else {
		run(load, NULL, -1, "0.94");
	}
}

/* Reports what the kernel compacts by itself before the loads of a day. */
static void idle(void)
{
	double before = free_in_largest();
	uint64_t migrated = pages_migrated();
	uint64_t wakes = lab_read_named("/proc/vmstat", "compact_daemon_wake");

	settle();
	lab_result("{\"load\":\"idle\",\"day\":%u,\"free_in_largest\":%.6f"
		   ",\"free_in_largest_after\":%.6f,\"compact_migrated\":%lu"
		   ",\"compact_wakes\":%lu}", today, before, free_in_largest(),
		   (unsigned long)(pages_migrated() - migrated),
		   (unsigned long)(lab_read_named("/proc/vmstat", "compact_daemon_wake") - wakes));
}

static void run_day(const char *number, const void *nothing)
{
	unsigned int wanted = strtoul(number, NULL, 10);

	(void)nothing;
	for (; today < wanted; today++) {
		lab_note("day %u of %u", today + 1, wanted);
		day(&seeds, lab_number("rounds"));
	}
	idle();
	each(lab_text("loads"), run_load, NULL);
}

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	coloring_check();
	seeds.state = lab_number("seed");
	tally = tally_new(lab_number("colors"));
	thp_reset();
	each(lab_text("days"), run_day, NULL);
	lab_done();
}
