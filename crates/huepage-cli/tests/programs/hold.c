/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* hold SECONDS PAGES [fork]: writes and reads so many pages for so long; with
 * fork, a child does the same besides, and its code is the exit code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "now.h"

static int hold(double seconds, long pages)
{
	char *p = malloc(pages * 4096);
	double end = now() + seconds;
	for (long i = 0; i < pages * 4096; i += 64)
		p[i] = (char)(i / 64);
	while (now() < end) {
		for (long i = 0; i < pages * 4096; i += 64)
			if (((volatile char *)p)[i] != (char)(i / 64))
				return 1;
		usleep(1000);
	}
	free(p);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	double seconds = atof(argv[1]);
	long pages = atol(argv[2]);
	if (argc == 3)
		return hold(seconds, pages);
	pid_t child = fork();
	if (!child)
		exit(hold(seconds, pages));
	int status, here = hold(seconds, pages);
	waitpid(child, &status, 0);
	return here || status;
}
