/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* last [7]: the first thread ends before another one, which prints; the last one ends the
 * process, whose handlers print, and write what was kept in memory. With 7 the first and
 * only thread ends without the C library, with that code. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *last(void *p)
{
	usleep(300000);
	printf("last\n");
	return p;
}
static void bye(void) { printf("bye\n"); }

int main(int argc, char **argv)
{
	pthread_t t;
	atexit(bye);
	if (argc > 1) syscall(SYS_exit, atoi(argv[1]));
	if (pthread_create(&t, NULL, last, NULL)) return 2;
	pthread_exit(NULL);
}
