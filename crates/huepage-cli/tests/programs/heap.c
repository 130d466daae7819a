/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* heap SECONDS: threads allocate, grow, align and free memory of all sizes, hand
 * it to each other, come and go, and fork children that do the same; every block
 * is checked when it changes hands. Prints "right" if nothing was lost. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "now.h"

#define BLOCKS 64
#define THREADS 4

struct block {
	unsigned char *p;
	size_t size;
	unsigned char seed;
};

static struct block shared[BLOCKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double end;

static void wrong(const char *what)
{
	fprintf(stderr, "heap: %s\n", what);
	_exit(1);
}

/* Every 61st byte and the last one: all pages are written and read. */
static void fill(struct block *b, size_t from)
{
	for (size_t i = from - from % 61; i < b->size; i += 61)
		b->p[i] = (unsigned char)(b->seed + i);
	if (b->size)
		b->p[b->size - 1] = b->seed;
}

static void check(const struct block *b, size_t size)
{
	for (size_t i = 0; i + 1 < size; i += 61)
		if (b->p[i] != (unsigned char)(b->seed + i) && i != b->size - 1)
			wrong("a block is not what it was");
}

static size_t draw_size(unsigned *seed)
{
	switch (rand_r(seed) % 8) {
	case 0: return 1 + rand_r(seed) % (3 << 20);
	case 1:
	case 2: return 1 + rand_r(seed) % (300 << 10);
	default: return 1 + rand_r(seed) % 9000;
	}
}

static void renew(struct block *b, unsigned *seed)
{
	size_t size = draw_size(seed), old = b->size;

	check(b, old);
	if (b->p && rand_r(seed) % 3 == 0) {
		unsigned char *p = realloc(b->p, size);
		if (!p)
			wrong("realloc");
		b->p = p;
		check(b, old < size ? old : size);
		b->size = size;
		fill(b, 0);
		return;
	}
	errno = 4242;
	free(b->p);
	if (errno != 4242)
		wrong("free has changed the error number");
	b->size = size;
	b->seed = (unsigned char)rand_r(seed);
	switch (rand_r(seed) % 4) {
	case 0:
		b->p = malloc(size);
		break;
	case 1:
		b->p = calloc(1, size);
		for (size_t i = 0; b->p && i < size; i += 7)
			if (b->p[i])
				wrong("calloc gave what is not zero");
		break;
	default: {
		size_t alignment = (size_t)16 << rand_r(seed) % 10;
		void *p = NULL;
		if (posix_memalign(&p, alignment, size) || (uintptr_t)p % alignment)
			wrong("posix_memalign");
		b->p = p;
	}
	}
	if (!b->p || malloc_usable_size(b->p) < size)
		wrong("a block is too small");
	fill(b, 0);
}

static void *work(void *argument)
{
	unsigned seed = (unsigned)(uintptr_t)argument;
	double until = now() + 0.2;

	while (now() < until && now() < end) {
		struct block b;
		int i = rand_r(&seed) % BLOCKS;
		pthread_mutex_lock(&lock);
		b = shared[i];
		shared[i] = (struct block){ 0 };
		pthread_mutex_unlock(&lock);
		renew(&b, &seed);
		pthread_mutex_lock(&lock);
		struct block other = shared[i];
		shared[i] = b;
		pthread_mutex_unlock(&lock);
		check(&other, other.size);
		free(other.p);
	}
	return NULL;
}

/* What a child has is what its parent had, and stays so while both go on. */
static void children(unsigned seed)
{
	struct block own[BLOCKS] = { 0 };

	for (int i = 0; i < BLOCKS; i++)
		renew(&own[i], &seed);
	pid_t child = fork();
	if (child < 0)
		wrong("fork");
	for (int i = 0; i < BLOCKS; i++)
		renew(&own[i], &seed);
	for (int i = 0; i < BLOCKS; i++) {
		check(&own[i], own[i].size);
		free(own[i].p);
	}
	if (!child)
		_exit(0);
	int status;
	if (waitpid(child, &status, 0) != child || status)
		wrong("a child has failed");
}

int main(int argc, char **argv)
{
	unsigned round = 1;

	end = now() + (argc > 1 ? atof(argv[1]) : 1);
	while (now() < end) {
		pthread_t threads[THREADS];
		for (int i = 0; i < THREADS; i++)
			if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)round++))
				wrong("pthread_create");
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		children(round++);
	}
	puts("right");
	return 0;
}
