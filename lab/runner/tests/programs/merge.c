// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Two processes with 64 pages each, of eight contents, which KSM merges; then the
 * command that is given runs while both are there.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define KSM "/sys/kernel/mm/ksm/"
#define PAGES 64
#define CONTENTS 8

static void set(const char *name, const char *value)
{
	FILE *file = fopen(name, "w");

	if (!file || fputs(value, file) < 0 || fclose(file)) {
		perror(name);
		exit(1);
	}
}

static long number(const char *name)
{
	FILE *file = fopen(name, "r");
	long value = -1;

	if (!file || fscanf(file, "%ld", &value) != 1)
		perror(name);
	if (file)
		fclose(file);
	return value;
}

static void fill(void)
{
	char *memory = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || madvise(memory, PAGES * 4096, MADV_MERGEABLE)) {
		perror("memory");
		exit(1);
	}
	for (int page = 0; page < PAGES; page++)
		memset(memory + page * 4096, 1 + page % CONTENTS, 4096);
}

int main(int argc, char **argv)
{
	int status = 1;
	pid_t other;

	if (argc != 2)
		return 2;
	other = fork();
	fill();
	if (!other) {
		pause();
		return 0;
	}
	set(KSM "smart_scan", "0");
	set(KSM "pages_to_scan", "1000");
	set(KSM "run", "1");
	while (number(KSM "pages_shared") != CONTENTS ||
	       number(KSM "pages_sharing") != 2 * PAGES - CONTENTS)
		usleep(10000);
	set(KSM "run", "0");
	status = system(argv[1]);
	kill(other, SIGKILL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
