/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* heir ROUNDS: a child that holds a robust mutex in shared memory is killed; its
 * parent must be told that the owner died, and not wait for it. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct shared { pthread_mutex_t mutex; volatile int held; };

static void *busy(void *p)
{
	volatile char *pages = p;
	for (unsigned i = 0;; i++)
		pages[i % 64 * 4096]++;
	return NULL;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&s->mutex, &a);
	for (int round = 0; round < rounds; round++) {
		s->held = 0;
		pid_t child = fork();
		if (!child) {
			pthread_t t;
			pthread_create(&t, NULL, busy, malloc(65 * 4096));
			pthread_mutex_lock(&s->mutex);
			s->held = 1;
			for (;;)
				pause();
		}
		while (!s->held)
			usleep(100);
		usleep(1000 + rand() % 8000);
		kill(child, SIGKILL);
		struct timespec limit;
		clock_gettime(CLOCK_REALTIME, &limit);
		limit.tv_sec += 20;
		int e = pthread_mutex_timedlock(&s->mutex, &limit);
		if (e != EOWNERDEAD) {
			fprintf(stderr, "round %d: %s\n", round, strerror(e));
			return 1;
		}
		pthread_mutex_consistent(&s->mutex);
		pthread_mutex_unlock(&s->mutex);
		waitpid(child, NULL, 0);
	}
	return 0;
}
