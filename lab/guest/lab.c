// SPDX-License-Identifier: MIT OR Apache-2.0
#define _GNU_SOURCE
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static int arg_count;
static char **args;
static pid_t first_process;

static void end(void)
{
	fflush(stdout);
	/*
	 * The console is slow, and messages of the kernel would cut our lines in two.
	 */
	tcdrain(STDOUT_FILENO);
	sync();
	if (getpid() == first_process)
		reboot(RB_POWER_OFF);
	_exit(1);
}

static void print(const char *prefix, const char *format, va_list list)
{
	char line[4096];
	int length = vsnprintf(line, sizeof(line), format, list);

	if (length >= (int)sizeof(line))
		lab_fail("a line of %d bytes is longer than the console takes", length);
	printf("%s%s\n", prefix, line);
	fflush(stdout);
}

static void mount_at(const char *type, const char *path)
{
	mkdir(path, 0755);
	if (mount(type, path, type, 0, NULL) && errno != EBUSY)
		lab_fail("mount %s at %s", type, path);
}

void lab_start(int argc, char **argv)
{
	arg_count = argc;
	args = argv;
	first_process = getpid();
	/* Without /dev the kernel has no console to give to us. */
	mkdir("/dev", 0755);
	mknod("/dev/console", S_IFCHR | 0600, makedev(5, 1));
	int console = open("/dev/console", O_RDWR);

	if (console >= 0 && console != 1) {
		dup2(console, 0);
		dup2(console, 1);
		dup2(console, 2);
	}
	mount_at("devtmpfs", "/dev");
	mount_at("proc", "/proc");
	mount_at("sysfs", "/sys");
	mount_at("debugfs", "/sys/kernel/debug");
}

static const char *find(const char *key)
{
	size_t length = strlen(key);

	for (int i = 1; i < arg_count; i++)
		if (!strncmp(args[i], key, length) && args[i][length] == '=')
			return args[i] + length + 1;
	return NULL;
}

const char *lab_text(const char *key)
{
	const char *text = find(key);

	if (!text) {
		errno = 0;
		lab_fail("argument %s= is missing", key);
	}
	return text;
}

uint64_t lab_number(const char *key)
{
	const char *text = lab_text(key);
	char *rest;
	uint64_t number = strtoull(text, &rest, 0);

	if (*rest || rest == text) {
		errno = 0;
		lab_fail("argument %s=%s is no number", key, text);
	}
	return number;
}

void lab_result(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	print("LAB ", format, list);
	va_end(list);
}

void lab_note(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	print("lab: ", format, list);
	va_end(list);
}

void lab_run_on(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		lab_fail("move to CPU %u", cpu);
}

pid_t lab_fork(void)
{
	pid_t child = fork();

	if (child < 0)
		lab_fail("fork");
	return child;
}

void lab_wait(pid_t child, const char *who)
{
	int status;

	if (waitpid(child, &status, 0) < 0)
		lab_fail("wait for %s", who);
	errno = 0;
	if (status)
		lab_fail("%s ended with status %#x", who, status);
}

double lab_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

void lab_done(void)
{
	printf("LAB-DONE\n");
	end();
	__builtin_unreachable();
}

void lab_fail(const char *format, ...)
{
	char line[512];
	int error = errno;
	va_list list;

	va_start(list, format);
	vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	printf("LAB-FAIL %s%s%s\n", line, error ? ": " : "", error ? strerror(error) : "");
	end();
	__builtin_unreachable();
}

void *lab_map(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		lab_fail("map %zu bytes", bytes);
	return memory;
}

void *lab_map_small(size_t bytes)
{
	void *memory = lab_map(bytes);

	if (madvise(memory, bytes, MADV_NOHUGEPAGE))
		lab_fail("ask for small pages");
	return memory;
}

void *lab_map_shared(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		lab_fail("map %zu bytes for all processes", bytes);
	return memory;
}

void lab_write(const char *path, const char *text)
{
	int file = open(path, O_WRONLY);

	if (file < 0)
		lab_fail("open %s", path);
	if (write(file, text, strlen(text)) != (ssize_t)strlen(text))
		lab_fail("write '%s' to %s", text, path);
	close(file);
}

uint64_t lab_read_number(const char *path)
{
	char text[64] = "";
	int file = open(path, O_RDONLY);

	if (file < 0)
		lab_fail("open %s", path);
	if (read(file, text, sizeof(text) - 1) <= 0)
		lab_fail("read %s", path);
	close(file);
	return strtoull(text, NULL, 0);
}

uint64_t lab_read_named(const char *path, const char *name)
{
	char line[128];
	size_t length = strlen(name);
	uint64_t number = 0;
	FILE *file = fopen(path, "r");

	if (!file)
		lab_fail("open %s", path);
	while (!number && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, length) && line[length] == ' ')
			number = strtoull(line + length, NULL, 10);
	fclose(file);
	return number;
}

/* xorshift64*; a state of zero would stay zero. */
uint64_t lab_next(struct lab_random *random)
{
	uint64_t x = random->state ? random->state : 0x9E3779B97F4A7C15u;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	random->state = x;
	return x * 0x2545F4914F6CDD1Du;
}

uint64_t lab_below(struct lab_random *random, uint64_t bound)
{
	return (uint64_t)(((unsigned __int128)lab_next(random) * bound) >> 64);
}

void lab_shuffle(struct lab_random *random, uint32_t *items, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t j = lab_below(random, i);
		uint32_t item = items[i - 1];

		items[i - 1] = items[j];
		items[j] = item;
	}
}
