// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * KSM while everything changes: workers on all nodes write, read, fork, migrate,
 * free and page out memory whose contents are often the same, while the first
 * process changes every setting of KSM, and memory is taken offline and brought
 * back. The content of each page is known, and verified before the page is freed.
 * Twice in between and at the end all workers stop: then KSM's counts must agree,
 * also after each change of the distance, and after unmerging they must be zero.
 */
#define _GNU_SOURCE
#include "ksmd.h"
#include "page_words.h"
#include "stress_kernel.h"
#include "swap.h"

#include <sched.h>
#include <sys/syscall.h>

#define PAGES 512U	/* of a worker */
#define SAME 24U	/* contents that many have; 0 is a page of zeros */
#define WORKERS_MOST 32U

/* Of all workers together. */
static struct counts {
	uint64_t written, verified, forks, unmerged, out, moved;
	uint32_t halt, halted, stop;
} *counts;
static uint64_t nodes, workers;
static bool by_distance;

struct worker {
	struct lab_random random;
	uint64_t *memory;
	uint64_t contents[PAGES];
	uint64_t unique;
};

static void count(uint64_t *number, uint64_t more)
{
	__atomic_add_fetch(number, more, __ATOMIC_RELAXED);
}

static uint64_t first_word(uint64_t content)
{
	struct lab_random random = { content };

	return content ? lab_next(&random) : 0;
}

static uint64_t step(uint64_t content)
{
	return content ? NEXT_WORD : 0;
}

static void fill(struct worker *worker, uint64_t page, uint64_t content)
{
	page_fill(worker->memory + page * WORDS, first_word(content), step(content));
	worker->contents[page] = content;
}

static void verify(const struct worker *worker, uint64_t from, uint64_t to)
{
	for (uint64_t page = from; page < to; page++) {
		uint64_t content = worker->contents[page];

		errno = 0;
		if (!page_holds(worker->memory + page * WORDS, first_word(content), step(content)))
			lab_fail("page %ju has the wrong content", (uintmax_t)page);
	}
	count(&counts->verified, to - from);
}

static void write_some(struct worker *worker, uint64_t from, uint64_t to)
{
	for (uint64_t page = from; page < to; page++) {
		uint64_t content = lab_below(&worker->random, 4) ?
					   lab_below(&worker->random, SAME) :
					   worker->unique++;

		fill(worker, page, content);
	}
	count(&counts->written, to - from);
}

static void advise(struct worker *worker, uint64_t from, uint64_t to, int advice)
{
	/* Unmerging may be interrupted, and is repeated then. */
	while (madvise(worker->memory + from * WORDS, (to - from) * PAGE, advice))
		if (errno != EAGAIN && errno != EINTR)
			lab_fail("madvise %d", advice);
}

/* The child verifies what its parent has, changes some of it, and verifies that. */
static void fork_and_verify(struct worker *worker, uint64_t from, uint64_t to)
{
	pid_t child = lab_fork();

	if (!child) {
		verify(worker, 0, PAGES);
		write_some(worker, from, to);
		verify(worker, 0, PAGES);
		_exit(0);
	}
	lab_wait(child, "a child");
	count(&counts->forks, 1);
}

/*
 * Moves to another node, with or without a policy that its memory is to come there.
 */
static void move(struct worker *worker)
{
	uint64_t node = lab_below(&worker->random, nodes);
	unsigned long mask = 1UL << node;
	int mode = lab_below(&worker->random, 4); /* of linux/mempolicy.h: 0 to 3 */

	lab_run_on(node);
	if (syscall(SYS_set_mempolicy, mode, mode ? &mask : NULL, mode ? 8 * sizeof(mask) : 0))
		lab_fail("set_mempolicy %d", mode);
	count(&counts->moved, 1);
}

static void elsewhere(struct worker *worker)
{
	void *there = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (there == MAP_FAILED)
		lab_fail("map");
	worker->memory = mremap(worker->memory, PAGES * PAGE, PAGES * PAGE,
				MREMAP_MAYMOVE | MREMAP_FIXED, there);
	if (worker->memory == MAP_FAILED)
		lab_fail("mremap");
}

static void turn(struct worker *worker)
{
	uint64_t from = lab_below(&worker->random, PAGES);
	uint64_t to = from + 1 + lab_below(&worker->random, PAGES - from < 64 ? PAGES - from : 64);

	switch (lab_below(&worker->random, 12)) {
	case 0 ... 3:
		write_some(worker, from, to);
		break;
	case 4 ... 5:
		verify(worker, 0, PAGES);
		break;
	case 6:
		advise(worker, from, to, MADV_UNMERGEABLE);
		verify(worker, from, to);
		advise(worker, from, to, MADV_MERGEABLE);
		count(&counts->unmerged, to - from);
		break;
	case 7:
		fork_and_verify(worker, from, to);
		break;
	case 8:
		if (madvise(worker->memory + from * WORDS, (to - from) * PAGE, MADV_PAGEOUT))
			lab_fail("MADV_PAGEOUT");
		count(&counts->out, to - from);
		break;
	case 9:
		verify(worker, from, to);
		advise(worker, from, to, MADV_DONTNEED);
		memset(worker->contents + from, 0, (to - from) * sizeof(*worker->contents));
		break;
	case 10:
		move(worker);
		break;
	case 11:
		elsewhere(worker);
		break;
	}
	/* Lets ksmd run. */
	usleep(lab_below(&worker->random, 3) ? 1000 : 30000);
}

static void work(uint64_t number, uint64_t seed)
{
	static struct worker worker;

	worker.random.state = seed * 1000 + number;
	worker.unique = (number + 1) << 32;
	worker.memory = lab_map(PAGES * PAGE);
	lab_run_on(number % nodes);
	advise(&worker, 0, PAGES, MADV_MERGEABLE);
	write_some(&worker, 0, PAGES);
	while (!__atomic_load_n(&counts->stop, __ATOMIC_ACQUIRE)) {
		if (!__atomic_load_n(&counts->halt, __ATOMIC_ACQUIRE)) {
			turn(&worker);
			continue;
		}
		__atomic_add_fetch(&counts->halted, 1, __ATOMIC_ACQ_REL);
		while (__atomic_load_n(&counts->halt, __ATOMIC_ACQUIRE))
			usleep(10000);
		verify(&worker, 0, PAGES);
		__atomic_sub_fetch(&counts->halted, 1, __ATOMIC_ACQ_REL);
	}
	verify(&worker, 0, PAGES);
	_exit(0);
}

/* A setting may be refused while pages are merged. */
static void set(const char *name, const char *value, int allowed)
{
	int error = ksm_set(name, value);

	errno = error;
	if (error && error != allowed)
		lab_fail("%s: %s", name, value);
}

static void turn_knob(struct lab_random *random)
{
	static const char *const runs[] = { "1", "1", "1", "1", "0", "2" };
	static const char *const distances[] = { "10", "16", "22", "255", "auto", "strict 10",
						 "strict 22" };
	static const char *const batches[] = { "50", "500", "5000" };
	static const char *const bits[] = { "0", "1" };

	switch (lab_below(random, by_distance ? 10 : 7)) {
	case 0:
		set("run", runs[lab_below(random, 6)], EINTR);
		break;
	case 1:
		set("advisor_mode", "none", 0);
		set("pages_to_scan", batches[lab_below(random, 3)], 0);
		break;
	case 2:
		set("use_zero_pages", bits[lab_below(random, 2)], 0);
		break;
	case 3:
		set("smart_scan", bits[lab_below(random, 2)], 0);
		break;
	case 4:
		set("advisor_mode", "scan-time", 0);
		break;
	case 5:
		set("max_page_sharing", lab_below(random, 2) ? "4" : "256", EBUSY);
		break;
	case 6:
		set("merge_across_nodes", bits[lab_below(random, 2)], EBUSY);
		break;
	default:
		set("merge_distance", distances[lab_below(random, 7)], EBUSY);
		break;
	}
}

/* All lines of merge_domains together, beside KSM's own counts. */
static void compare_counts(void)
{
	struct ksm_counts all = ksm_counts();
	uint64_t shared = 0, sharing = 0, a, b;
	FILE *file = fopen(KSM "merge_domains", "r");
	char line[400];

	if (!file)
		lab_fail("open merge_domains");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "nodes %*s shared %ju sharing %ju", &a, &b) != 2)
			lab_fail("merge_domains says: %s", line);
		shared += a;
		sharing += b;
	}
	fclose(file);
	errno = 0;
	if (shared != all.shared || sharing != all.sharing)
		lab_fail("domains have %ju and %ju pages shared and sharing, KSM %ju and %ju",
			 (uintmax_t)shared, (uintmax_t)sharing, (uintmax_t)all.shared,
			 (uintmax_t)all.sharing);
}

static void expect_none(const char *name)
{
	char path[100];

	snprintf(path, sizeof(path), KSM "%s", name);
	uint64_t number = lab_read_number(path);

	errno = 0;
	if (number)
		lab_fail("%s is %ju after unmerging", name, (uintmax_t)number);
}

/* The workers have stopped, and KSM has done all that there is to do. */
static void stand_still(void)
{
	int status;

	__atomic_store_n(&counts->halt, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&counts->halted, __ATOMIC_ACQUIRE) != workers) {
		if (waitpid(-1, &status, WNOHANG) > 0)
			lab_fail("a worker ended with status %d: too little memory?", status);
		usleep(10000);
	}
	set("advisor_mode", "none", 0);
	if (by_distance) {
		set("merge_distance", "255", 0);
		ksm_settle();
		compare_counts();
		set("merge_distance", "10", 0);
	}
	struct ksm_counts merged = ksm_settle();

	if (by_distance)
		compare_counts();
	lab_result("{\"step\":\"still\",\"shared\":%ju,\"sharing\":%ju}", (uintmax_t)merged.shared,
		   (uintmax_t)merged.sharing);
	lab_write(KSM "run", "2");
	expect_none("pages_shared");
	expect_none("pages_sharing");
	if (by_distance) {
		compare_counts();
		expect_none("merge_unplaced");
		expect_none("merge_spanning");
	}
	lab_write(KSM "run", "1");
	__atomic_store_n(&counts->halt, 0, __ATOMIC_RELEASE);
	while (__atomic_load_n(&counts->halted, __ATOMIC_ACQUIRE))
		usleep(10000);
}

static uint64_t number_if_there(const char *name)
{
	char path[100];

	snprintf(path, sizeof(path), KSM "%s", name);
	return by_distance ? lab_read_number(path) : 0;
}

static void report(const struct done *done, double seconds)
{
	lab_result("{\"step\":\"stress\",\"seconds\":%.0f,\"written\":%ju,\"verified\":%ju,"
		   "\"forks\":%ju,\"unmerged\":%ju,\"paged_out\":%ju,\"workers_moved\":%ju,"
		   "\"offline\":%ju,\"offline_refused\":%ju,\"split\":%ju,\"folded\":%ju,"
		   "\"moved\":%ju}",
		   seconds, (uintmax_t)counts->written, (uintmax_t)counts->verified,
		   (uintmax_t)counts->forks, (uintmax_t)counts->unmerged, (uintmax_t)counts->out,
		   (uintmax_t)counts->moved, (uintmax_t)done->offline,
		   (uintmax_t)done->offline_refused, (uintmax_t)number_if_there("merge_split"),
		   (uintmax_t)number_if_there("merge_folded"),
		   (uintmax_t)number_if_there("merge_moved"));
}

int main(int argc, char **argv)
{
	struct done done = { 0 };
	char device[PATH_MAX];

	lab_start(argc, argv);
	nodes = lab_number("nodes");
	workers = 2 * nodes;
	by_distance = is_there(KSM "merge_distance");
	struct lab_random random = { lab_number("seed") };
	double length = lab_number("seconds"), begin = lab_seconds();
	int rounds = lab_number("rounds");

	if (workers > WORKERS_MOST)
		lab_fail("more than %u workers", WORKERS_MOST);
	counts = lab_map_shared(sizeof(*counts));
	swap_on_disk(0, device);
	lab_write(KSM "sleep_millisecs", "5");
	lab_write(KSM "run", "1");
	pid_t pids[WORKERS_MOST];

	for (uint64_t i = 0; i < workers; i++) {
		pids[i] = lab_fork();
		if (!pids[i])
			work(i, lab_number("seed"));
	}
	for (int turns = 0; turns < rounds || lab_seconds() - begin < length; turns++) {
		turn_knob(&random);
		if (turns % 16 == 15)
			stress_hotplug(&random, &done);
		usleep(50000 + lab_below(&random, 200000));
		if (turns == rounds / 3 || turns == 2 * (rounds / 3))
			stand_still();
	}
	stand_still();
	__atomic_store_n(&counts->stop, 1, __ATOMIC_RELEASE);
	for (uint64_t i = 0; i < workers; i++)
		lab_wait(pids[i], "a worker");
	report(&done, lab_seconds() - begin);
	lab_done();
}
