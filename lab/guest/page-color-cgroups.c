// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * cpuset.page_colors: the effective colors below a cgroup, for tasks that join and leave.
 */
#define _GNU_SOURCE
#include "color_lists.h"

#include <linux/sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define ROOT "/cgroup/"
#define A ROOT "a/"
#define B A "b/"
#define OWN "cpuset.page_colors"
#define EFFECTIVE "cpuset.page_colors.effective"

static void folder(const char *path)
{
	if (mkdir(path, 0755))
		lab_fail("mkdir %s", path);
}

static void remove_folder(const char *path)
{
	if (rmdir(path))
		lab_fail("rmdir %s", path);
}

static void prepare(void)
{
	mkdir(ROOT, 0755);
	if (mount("cgroup2", ROOT, "cgroup2", 0, NULL))
		lab_fail("mount cgroup2");
	lab_write(ROOT "cgroup.subtree_control", "+cpuset");
	folder(A);
	lab_write(A "cgroup.subtree_control", "+cpuset");
	folder(B);
}

static void move_to(const char *cgroup, pid_t task)
{
	char path[128], text[16];

	snprintf(path, sizeof(path), "%scgroup.procs", cgroup);
	snprintf(text, sizeof(text), "%d", task);
	expect_write(path, text, 0);
}

static void hierarchy(void)
{
	expect_line(ROOT OWN, "error: No such file or directory");
	expect_line(ROOT EFFECTIVE, "0-4095");
	expect_line(A OWN, "");
	expect_line(A EFFECTIVE, "0-4095");
	expect_write(A OWN, "512-1023,0-600\n", 0);
	expect_line(A OWN, "0-1023");
	expect_line(A EFFECTIVE, "0-1023");
	expect_line(B OWN, "");
	expect_line(B EFFECTIVE, "0-1023");
	expect_write(B OWN, "512-2047,9", 0);
	expect_line(B OWN, "9,512-2047");
	expect_line(B EFFECTIVE, "9,512-1023");
	/* No color in common: as if it had no set. */
	expect_write(B OWN, "3000", 0);
	expect_line(B OWN, "3000");
	expect_line(B EFFECTIVE, "0-1023");
	expect_write(A OWN, "2500-3500", 0);
	expect_line(B EFFECTIVE, "3000");
	/* A task that joins later gets the effective colors. */
	folder(A "c");
	expect_line(A "c/" OWN, "");
	expect_line(A "c/" EFFECTIVE, "2500-3500");
	expect_write(A OWN, "all", 0);
	expect_line(A OWN, "");
	expect_line(A EFFECTIVE, "0-4095");
	expect_line(A "c/" EFFECTIVE, "0-4095");
	expect_line(B EFFECTIVE, "3000");
	remove_folder(A "c");
	expect_write(B OWN, "\n", 0);
	expect_line(B EFFECTIVE, "0-4095");
	expect_line(ROOT EFFECTIVE, "0-4095");
}

static void refusals(void)
{
	expect_write(A OWN, "7", 0);
	expect_write(A OWN, "all,4096", EINVAL);
	expect_refused_lists(A OWN);
	expect_line(A OWN, "7");
	expect_line(A EFFECTIVE, "7");
	expect_longest_list(A OWN);
	expect_line(A EFFECTIVE, "4");
	/* 8192 ranges. */
	expect_write(DIR "cache_size", "64M", 0);
	expect_write(A OWN, "all:1/2", E2BIG);
	expect_write(A OWN, "all:2/4", 0);
	expect_write(DIR "cache_size", "16M", 0);
	expect_write(A OWN, "", 0);
}

/* Sets that were made for another number of colors are ignored, but not forgotten. */
static void other_geometry(void)
{
	expect_write(A OWN, "0-255", 0);
	expect_write(B OWN, "16-31", 0);
	expect_line(B EFFECTIVE, "16-31");
	expect_write(DIR "cache_size", "8M", 0);
	expect_line(A OWN, "0-255");
	expect_line(A EFFECTIVE, "0-2047");
	expect_line(B EFFECTIVE, "0-2047");
	expect_write(B OWN, "2000", 0);
	expect_line(B EFFECTIVE, "2000");
	expect_write(DIR "cache_size", "16M", 0);
	expect_line(A EFFECTIVE, "0-255");
	/* Nor may it use colors outside of its parent's set. */
	expect_line(B EFFECTIVE, "0-255");
	expect_write(DIR "cache_size", "8M", 0);
	expect_line(A EFFECTIVE, "0-2047");
	expect_line(B EFFECTIVE, "2000");
	expect_write(DIR "cache_size", "16M", 0);
	expect_write(B OWN, "", 0);
	expect_write(A OWN, "", 0);
}

/* Forks a child into a cgroup; returns 0 if it may use these colors. */
static int born_in(const char *cgroup, const char *wanted)
{
	int folder = open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC), status;
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = folder,
	};
	pid_t child = syscall(SYS_clone3, &args, sizeof(args));

	if (!child)
		_exit(strcmp(file_line(SELF), wanted));
	if (child < 0 || waitpid(child, &status, 0) != child)
		lab_fail("clone3 into %s", cgroup);
	close(folder);
	return status;
}

static int child_has(const char *wanted)
{
	int status;
	pid_t child = lab_fork();

	if (!child)
		_exit(strcmp(file_line(SELF), wanted));
	if (waitpid(child, &status, 0) != child)
		lab_fail("wait for a child");
	return status;
}

static void tasks(void)
{
	expect_write(A OWN, "0-1023", 0);
	expect_write(B OWN, "1000-2047", 0);
	expect_line(SELF, "0-4095");
	if (born_in(A, "0-1023"))
		lab_fail("a task that is born in a cgroup has other colors");
	move_to(B, getpid());
	expect_line(SELF, "1000-1023");
	move_to(ROOT, getpid());
	expect_line(SELF, "0-4095");

	/* With a set of its own. */
	expect_write(SELF, "1010-3100", 0);
	if (born_in(B, "1010-1023"))
		lab_fail("a task that is born in a cgroup keeps colors that it has not");
	move_to(B, getpid());
	expect_line(SELF, "1010-1023");
	if (child_has("1010-1023") || born_in(ROOT, "1010-3100"))
		lab_fail("a child has other colors");
	expect_write(A OWN, "2000-2999", 0);
	expect_line(B EFFECTIVE, "2000-2047");
	expect_line(SELF, "2000-2047");
	/* None of its own colors is left. */
	expect_write(B OWN, "3500", 0);
	expect_write(A OWN, "3500-4000", 0);
	expect_line(SELF, "3500");
	if (child_has("3500"))
		lab_fail("a child has other colors");
	/* Now a list without a common color is refused. */
	expect_write(SELF, "5-9", EINVAL);
	expect_write(SELF, "0-3500", 0);
	expect_line(SELF, "3500");
	move_to(ROOT, getpid());
	expect_line(SELF, "0-3500");
	expect_write(SELF, "all", 0);
	expect_line(SELF, "0-4095");
	expect_write(B OWN, "", 0);
	expect_write(A OWN, "", 0);
}

/*
 * A user who may write the files of a cgroup can choose among its parent's colors only.
 */
static void delegation(void)
{
	expect_write(A OWN, "64-127", 0);
	if (chown(B OWN, 1000, 1000))
		lab_fail("chown " B OWN);
	move_to(B, getpid());
	pid_t child = lab_fork();

	if (!child) {
		if (setresuid(1000, 1000, 1000) || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
			lab_fail("become a user");
		expect_write(A OWN, "all", EACCES);
		expect_write(B OWN, "100-4095", 0);
		expect_line(SELF, "100-127");
		expect_write(B OWN, "4000", 0);
		expect_line(SELF, "64-127");
		expect_write(B OWN, "all", 0);
		expect_line(SELF, "64-127");
		expect_write(SELF, "70", EPERM);
		expect_line(SELF, "64-127");
		_exit(0);
	}
	lab_wait(child, "a user");
	move_to(ROOT, getpid());
	expect_write(A OWN, "", 0);
}

static void allocates(void)
{
	const size_t pages = 512;
	char *memory = lab_map(3 * pages * PAGE);
	unsigned strange[3];

	expect_write(DIR "enabled", "1", 0);
	expect_write(A OWN, "0-511", 0);
	move_to(B, getpid());
	memset(memory, 1, pages * PAGE);
	strange[0] = outside(memory, pages, 0, 511);
	/* The change applies from the next page on. */
	expect_write(B OWN, "256-1023", 0);
	memset(memory + pages * PAGE, 1, pages * PAGE);
	strange[1] = outside(memory + pages * PAGE, pages, 256, 511);
	expect_write(SELF, "0-383", 0);
	memset(memory + 2 * pages * PAGE, 1, pages * PAGE);
	strange[2] = outside(memory + 2 * pages * PAGE, pages, 256, 383);
	lab_result("{\"pages\":%zu,\"cgroup\":%u,\"changed\":%u,\"own\":%u}", pages, strange[0],
		   strange[1], strange[2]);
	munmap(memory, 3 * pages * PAGE);
	move_to(ROOT, getpid());
	expect_write(SELF, "all", 0);
	expect_write(DIR "enabled", "0", 0);
}

static pid_t racing(void (*work)(int turn))
{
	pid_t child = lab_fork();

	if (!child) {
		for (int i = 0; i < 150; i++)
			work(i);
		_exit(0);
	}
	return child;
}

static void write_above(int turn)
{
	char list[32];

	snprintf(list, sizeof(list), "%d-%d", turn, 2 * turn + 8);
	expect_write(A OWN, turn % 5 ? list : "", 0);
}

static void write_below(int turn)
{
	char list[32];

	snprintf(list, sizeof(list), "%d-%d", 2 * turn, 3 * turn + 1);
	expect_write(B OWN, turn % 7 ? list : "", 0);
}

static void wander(int turn)
{
	move_to(turn % 2 ? B : ROOT, getpid());
	write_text(SELF, turn % 3 ? "5-90,200-300" : "all");
	child_has("x");
}

static void make_and_remove(int turn)
{
	char path[64];

	snprintf(path, sizeof(path), A "x%d", turn);
	folder(path);
	snprintf(path, sizeof(path), A "x%d/" OWN, turn);
	expect_write(path, "7-70", 0);
	snprintf(path, sizeof(path), A "x%d", turn);
	remove_folder(path);
}

static void touch(int turn)
{
	char *memory = lab_map(64 * PAGE);

	memset(memory, turn, 64 * PAGE);
	munmap(memory, 64 * PAGE);
	wander(turn);
}

static void change_geometry(int turn)
{
	if (turn % 30 == 29)
		expect_write(DIR "cache_size", turn % 60 == 59 ? "16M" : "8M", 0);
}

static void races(void)
{
	void (*const works[])(int) = { write_above, write_below, wander, make_and_remove, touch };
	pid_t children[5];

	for (int coloring = 0; coloring < 2; coloring++) {
		expect_write(DIR "enabled", coloring ? "1" : "0", 0);
		for (int c = 0; c < 5; c++)
			children[c] = racing(works[c]);
		if (!coloring)
			waitpid(racing(change_geometry), NULL, 0);
		for (int c = 0; c < 5; c++)
			lab_wait(children[c], "a racer");
		expect_write(DIR "enabled", "0", 0);
		expect_write(DIR "cache_size", "16M", 0);
	}
	expect_write(A OWN, "30-90", 0);
	expect_write(B OWN, "80-100", 0);
	expect_line(B EFFECTIVE, "80-90");
}

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	expect_write(DIR "cache_size", "16M,ways=1", 0);
	prepare();
	hierarchy();
	refusals();
	other_geometry();
	tasks();
	delegation();
	allocates();
	races();
	remove_folder(B);
	remove_folder(A);
	lab_done();
}
