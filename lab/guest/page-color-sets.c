// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * /proc/PID/page_colors: lists, inheritance, permission, and the colors of pages.
 */
#define _GNU_SOURCE
#include "color_lists.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* The result of a child: it ends with 0, or has printed what is wrong. */
static void in_child(void (*check)(void))
{
	pid_t child = lab_fork();

	if (!child) {
		check();
		_exit(0);
	}
	lab_wait(child, "a child");
}

static void lists(void)
{
	expect_line(SELF, "0-4095");
	expect_write(SELF, "9,7,0-3,2-5", 0);
	expect_line(SELF, "0-5,7,9");
	expect_write(SELF, "\n", EINVAL);
	expect_write(SELF, " ", EINVAL);
	expect_refused_lists(SELF);
	expect_line(SELF, "0-5,7,9");
	expect_longest_list(SELF);
	expect_line(SELF, "4");
	expect_write(SELF, "all:1/1024\n", 0);
	expect_line(SELF, "0,1024,2048,3072");
	expect_write(SELF, "0-N", 0);
	expect_line(SELF, "0-4095");
	expect_write("/proc/2/page_colors", "0", EINVAL);
}

static void inherits(void)
{
	expect_line(SELF, "3-8");
	expect_write(SELF, "1", 0);
	expect_line(SELF, "1");
}

static void executes(void)
{
	expect_line(SELF, "3-8");
	execl("/proc/self/exe", "init", "again", NULL);
	lab_fail("exec");
}

static void *thread(void *unused)
{
	expect_line(SELF, "3-8");
	expect_write(SELF, "2", 0);
	expect_line(SELF, "2");
	expect_line("/proc/self/page_colors", "3-8");
	return unused;
}

static void inheritance(void)
{
	pthread_t other;

	expect_write(SELF, "3-8", 0);
	in_child(inherits);
	expect_line(SELF, "3-8");
	in_child(executes);
	if (pthread_create(&other, NULL, thread, NULL) || pthread_join(other, NULL))
		lab_fail("thread");
	expect_line(SELF, "3-8");
	expect_write(SELF, "all", 0);
}

static int opened;

static void become(uid_t user)
{
	if (setresuid(user, user, user) || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
		lab_fail("become %u", user);
}

static void another_user(void)
{
	become(1000);
	expect_write("/proc/1/page_colors", "0", EACCES);
	expect_line("/proc/1/page_colors", "0-4095");
	/* The user would learn frame numbers modulo the number of colors. */
	expect_write(SELF, "5", EPERM);
	expect_line(SELF, "0-4095");
	/* Opened by root, but the task has capabilities that the writer lacks. */
	if (write(opened, "6", 1) != -1 || errno != EPERM)
		lab_fail("a task of more capabilities is written to");
	expect_write("/proc/page_color_table", "", EACCES);
}

/* A privileged process may open the file for one that is not. */
static void opened_by_root(void)
{
	int fd = open("/proc/self/page_colors", O_RDWR);

	become(1000);
	if (fd < 0 || write(fd, "7", 1) != 1)
		lab_fail("what root opened does not take a set");
	expect_line(SELF, "7");
}

/* The task's owner opens it, and then becomes a user with all privileges. */
static void opener_counts(void)
{
	if (setresuid(1000, 1000, 0) || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
		lab_fail("become another user for a while");
	int fd = open("/proc/self/page_colors", O_RDWR);

	if (fd < 0 || setresuid(0, 0, 0))
		lab_fail("open own page_colors and go back");
	if (write(fd, "1", 1) != -1 || errno != EPERM)
		lab_fail("who opened the file is not asked");
	expect_line(SELF, "0-4095");
}

static void permission(void)
{
	opened = open("/proc/1/page_colors", O_RDWR);
	in_child(another_user);
	expect_line("/proc/1/page_colors", "0-4095");
	in_child(opened_by_root);
	in_child(opener_counts);
}

static void other_geometry(void)
{
	expect_write(SELF, "0-7", 0);
	expect_write(DIR "cache_size", "8M", 0);
	expect_line(SELF, "0-2047");
	expect_write(DIR "cache_size", "16M", 0);
	expect_line(SELF, "0-7");
	expect_write(SELF, "all", 0);
}

/* Pages of the set, as long as it has some. */
static void allocates(void)
{
	const size_t pages = 512;
	char *memory = lab_map(pages * PAGE);

	expect_write(DIR "enabled", "1", 0);
	expect_write(SELF, "0-255", 0);
	memset(memory, 1, pages * PAGE);
	expect_write(SELF, "all", 0);
	lab_result("{\"pages\":%zu,\"outside\":%u}", pages, outside(memory, pages, 0, 255));
	munmap(memory, pages * PAGE);
	expect_write(DIR "enabled", "0", 0);
}

/* Concurrent writers and forks of the same set. */
static void races(void)
{
	pid_t children[4];
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/page_colors", getpid());
	for (int c = 0; c < 4; c++) {
		children[c] = lab_fork();
		if (children[c])
			continue;
		for (int i = 0; i < 200; i++) {
			char list[16];

			snprintf(list, sizeof(list), "%d-%d", i, i + c + 1);
			expect_write(path, list, 0);
		}
		_exit(0);
	}
	for (int i = 0; i < 200; i++) {
		pid_t child = lab_fork();

		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	for (int c = 0; c < 4; c++)
		waitpid(children[c], NULL, 0);
	expect_write(SELF, "all", 0);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "again")) {
		expect_line(SELF, "3-8");
		return 0;
	}
	lab_start(argc, argv);
	expect_write(DIR "cache_size", "16M,ways=1", 0);
	lists();
	inheritance();
	permission();
	other_geometry();
	allocates();
	races();
	lab_done();
}
