/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Threads write, check, unmap, move, discard, fork while the pages below are
 * exchanged. Exits with 0 if every byte was where it belongs. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "now.h"

enum { PAGE = 4096, PAGES = 64, WORDS = PAGE / 8 };
static double seconds = 3;
static atomic_int failed;

static double end;

#define FAIL(...) do { fprintf(stderr, __VA_ARGS__); failed = 1; return NULL; } while (0)

static uint64_t value(uint64_t round, int page, int word)
{
	return (round * PAGES + page) * WORDS + word + 1;
}
static char *map(int pages)
{
	char *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) abort();
	return p;
}
static void fill(char *p, uint64_t round, int pages)
{
	for (int i = 0; i < pages; i++)
		for (int w = 0; w < WORDS; w += 37)
			((volatile uint64_t *)(p + i * PAGE))[w] = value(round, i, w);
}
static int wrong(char *p, uint64_t round, int pages)
{
	for (int i = 0; i < pages; i++)
		for (int w = 0; w < WORDS; w += 37)
			if (((volatile uint64_t *)(p + i * PAGE))[w] != value(round, i, w))
				return i + 1;
	return 0;
}
static int nonzero(char *p, int pages)
{
	for (int i = 0; i < pages; i++)
		for (int w = 0; w < WORDS; w += 37)
			if (((volatile uint64_t *)(p + i * PAGE))[w])
				return i + 1;
	return 0;
}
/* counts words up, each by one thread */
static void *count(void *unused)
{
	(void)unused;
	char *p = map(PAGES);
	uint64_t n = 0;
	while (now() < end && !failed) {
		n++;
		for (int i = 0; i < PAGES; i++) {
			volatile uint64_t *w = (uint64_t *)(p + i * PAGE) + i;
			if (*w != n - 1) FAIL("count: page %d: %lu, not %lu\n", i, *w, n - 1);
			*w = n;
		}
	}
	return NULL;
}
/* maps, fills, checks, unmaps; others map there at once */
static void *unmap(void *unused)
{
	(void)unused;
	for (uint64_t round = 1; now() < end && !failed; round++) {
		char *p = map(PAGES);
		fill(p, round, PAGES);
		for (int k = 0; k < (int)(round % 64); k++)
			if (wrong(p, round, PAGES)) FAIL("unmap: wrong page %d\n", wrong(p, round, PAGES) - 1);
		/* in parts, and whole */
		if (round % 2) munmap(p + 16 * PAGE, 8 * PAGE);
		if (round % 2 && wrong(p, round, 16)) FAIL("unmap: beside\n");
		munmap(p, PAGES * PAGE);
	}
	return NULL;
}
/* EFAULT: the placer keeps two mappings apart for a moment. Linux 6.17 and newer have
 * moved those before it by then. */
static char *remap(char *from, int pages, char *to, int flags)
{
	unsigned char there;
	int moved = 0;
	for (int tries = 0;; tries++) {
		size_t bytes = (pages - moved) * PAGE;
		char *at = mremap(from + moved * PAGE, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | flags, to + moved * PAGE);
		if (at != MAP_FAILED) return to;
		if (errno != EFAULT || tries == 1000) return at;
		while (moved < pages && mincore(from + moved * PAGE, PAGE, &there) && errno == ENOMEM) moved++;
		if (moved == pages) return to;
		usleep(100);
	}
}
/* moves pages back and forth by mremap, whole, in part, growing in place */
static void *moves(void *unused)
{
	(void)unused;
	char *a = map(PAGES), *b = map(PAGES);
	uint64_t round = 1;
	fill(a, round, PAGES);
	while (now() < end && !failed) {
		if (round % 5 == 4) {
			/* Part of it; what it leaves stays mapped, or another thread might
			 * get the addresses. */
			char *at = remap(a + 8 * PAGE, 16, b + 8 * PAGE, MREMAP_DONTUNMAP);
			if (at == MAP_FAILED) FAIL("mremap part: %s\n", strerror(errno));
			for (int i = 8; i < 24; i++)
				for (int w = 0; w < WORDS; w += 37)
					if (((uint64_t *)(b + i * PAGE))[w] != value(1, i, w)) FAIL("moved part: page %d\n", i);
			at = remap(b + 8 * PAGE, 16, a + 8 * PAGE, MREMAP_DONTUNMAP);
			if (at == MAP_FAILED) FAIL("mremap part back: %s\n", strerror(errno));
		}
		char *c = map(PAGES);
		char *d = remap(a, PAGES, c, 0);
		if (d == MAP_FAILED) FAIL("mremap: %s\n", strerror(errno));
		a = d;
		int bad = wrong(a, 1, PAGES);
		if (bad) FAIL("mremap: page %d: %lx\n", bad - 1, *(uint64_t *)(a + (bad - 1) * PAGE));
		/* Pages that never stay are never exchanged. */
		if (round % 8 == 0) usleep(2000);
		round++;
	}
	return NULL;
}
/* discards: what was there must not come back */
static void *discard(void *unused)
{
	(void)unused;
	char *p = map(PAGES);
	for (uint64_t round = 1; now() < end && !failed; round++) {
		fill(p, round, PAGES);
		if (wrong(p, round, PAGES)) FAIL("discard: wrong\n");
		int first = round % 32, pages = 1 + round % 31;
		if (madvise(p + first * PAGE, pages * PAGE, MADV_DONTNEED)) FAIL("madvise: %s\n", strerror(errno));
		if (nonzero(p + first * PAGE, pages)) FAIL("discard: page %d of %d came back\n", nonzero(p + first * PAGE, pages) - 1, pages);
		if (first && wrong(p, round, first)) FAIL("discard: before\n");
	}
	return NULL;
}
static void *forks(void *unused)
{
	(void)unused;
	char *p = map(PAGES), *wiped = map(PAGES), *apart = map(PAGES);
	madvise(wiped, PAGES * PAGE, MADV_WIPEONFORK);
	madvise(apart, PAGES * PAGE, MADV_DONTFORK);
	for (uint64_t round = 1; now() < end && !failed; round++) {
		fill(p, round, PAGES);
		fill(wiped, round, PAGES);
		fill(apart, round, PAGES);
		pid_t child = fork();
		if (child == 0) {
			if (wrong(p, round, PAGES)) _exit(1);
			if (nonzero(wiped, PAGES)) _exit(2);
			fill(p, round + 1, PAGES);
			_exit(wrong(p, round + 1, PAGES) ? 3 : 0);
		}
		if (child < 0) FAIL("fork: %s\n", strerror(errno));
		if (wrong(p, round, PAGES)) FAIL("fork: parent\n");
		int status;
		waitpid(child, &status, 0);
		if (status) FAIL("fork: child %x\n", status);
		if (wrong(wiped, round, PAGES) || wrong(apart, round, PAGES)) FAIL("fork: kept apart\n");
	}
	return NULL;
}
static void *sleeper(void *p) { *(int *)p = 1; usleep(rand() % 2000); return p; }
/* threads come and go: the kernel clears their numbers */
static void *threads(void *unused)
{
	(void)unused;
	while (now() < end && !failed) {
		pthread_t t[8];
		int touched[8] = { 0 };
		for (int i = 0; i < 8; i++)
			if (pthread_create(&t[i], NULL, sleeper, &touched[i])) FAIL("pthread_create\n");
		for (int i = 0; i < 8; i++) {
			pthread_join(t[i], NULL);
			if (!touched[i]) FAIL("thread\n");
		}
	}
	return NULL;
}
/* locks that the kernel knows of */
static pthread_mutex_t *pi, *robust;
static void *contend(void *unused)
{
	(void)unused;
	while (now() < end && !failed) {
		int e = pthread_mutex_lock(pi);
		if (e) FAIL("pi: %s\n", strerror(e));
		for (volatile int i = 0; i < 500; i++);
		e = pthread_mutex_unlock(pi);
		if (e) FAIL("pi unlock: %s\n", strerror(e));
	}
	return NULL;
}
static void *dies(void *unused)
{
	(void)unused;
	pthread_mutex_lock(robust);
	return NULL;
}
static void *robusts(void *unused)
{
	(void)unused;
	while (now() < end && !failed) {
		pthread_t t;
		pthread_create(&t, NULL, dies, NULL);
		pthread_join(t, NULL);
		struct timespec limit;
		clock_gettime(CLOCK_REALTIME, &limit);
		limit.tv_sec += 20;
		int e = pthread_mutex_timedlock(robust, &limit);
		if (e != EOWNERDEAD) FAIL("robust: %s\n", strerror(e));
		pthread_mutex_consistent(robust);
		pthread_mutex_unlock(robust);
	}
	return NULL;
}
static void *heap(void *unused)
{
	(void)unused;
	enum { N = 64 };
	char *p[N] = { 0 };
	size_t size[N] = { 0 };
	unsigned seed = 1;
	while (now() < end && !failed) {
		int i = rand_r(&seed) % N;
		size_t want = 1 + rand_r(&seed) % 300000;
		for (size_t k = 0; k < size[i]; k += 977)
			if (p[i][k] != (char)(i + k)) FAIL("heap\n");
		char *q = realloc(p[i], want);
		if (!q) FAIL("realloc\n");
		for (size_t k = 0; k < size[i] && k < want; k += 977)
			if (q[k] != (char)(i + k)) FAIL("realloc moved wrong bytes\n");
		p[i] = q; size[i] = want;
		for (size_t k = 0; k < want; k += 977) q[k] = (char)(i + k);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	if (argc > 1) seconds = atof(argv[1]);
	const char *only = argc > 2 ? argv[2] : NULL;
	end = now() + seconds;
	pthread_mutexattr_t a;
	pi = (void *)map(1); robust = (void *)map(1);
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(pi, &a);
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(robust, &a);
	static struct { const char *name; void *(*run)(void *); } all[] = {
		{ "count", count }, { "count", count }, { "unmap", unmap }, { "unmap", unmap },
		{ "moves", moves }, { "discard", discard }, { "discard", discard }, { "forks", forks },
		{ "threads", threads }, { "pi", contend }, { "pi", contend }, { "pi", contend },
		{ "robust", robusts }, { "heap", heap }, { "heap", heap },
	};
	pthread_t t[16];
	int n = 0;
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!only || !strcmp(only, all[i].name))
			pthread_create(&t[n++], NULL, all[i].run, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return failed;
}
