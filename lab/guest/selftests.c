// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Runs the kernel's selftests in /selftests/list one after the other, each in its
 * directory and with a limit of time, and says how each ended. What they print has
 * "t| " before it, to tell it from words of the kernel.
 * All of it goes through the kernel's log: on the console, lines of programs are cut
 * in two by messages of the kernel, but messages are not.
 * Settings: from=N, to=N: the first and the last test to run.
 */
#define _GNU_SOURCE
#include "files.h"
#include "swap.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define LIST "/selftests/list"
#define WORDS 32
/* What the log takes as one message, less what comes before. */
#define LINE 900

/* Swap compressed in memory: enough to see pages swapped out and in. */
static void swap_to_memory(void)
{
	if (access("/sys/block/zram0/disksize", W_OK))
		return;
	lab_write("/sys/block/zram0/disksize", "256M");
	swap_on("/dev/zram0", 256 * MIB / PAGE);
}

static void mount_tmpfs(const char *path)
{
	mkdir(path, 0777);
	if (mount("tmpfs", path, "tmpfs", 0, NULL))
		lab_fail("mount tmpfs at %s", path);
}

/* Starts a test; returns the process and the end of a pipe with its output. */
static pid_t start(const char *directory, char **words, int *output)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		lab_fail("pipe");
	pid_t child = lab_fork();

	if (!child) {
		setsid();
		close(0);
		open("/dev/null", O_RDONLY);
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		if (chdir(directory))
			_exit(127);
		execv(words[0], words);
		fprintf(stderr, "exec %s: %s\n", words[0], strerror(errno));
		_exit(127);
	}
	close(ends[1]);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	*output = ends[0];
	return child;
}

static void say(const char *line, size_t length)
{
	printf("t| %.*s\n", (int)length, line);
	fflush(stdout);
}

/* Prints what there is, in whole lines. */
static void pass_on(int output, int end)
{
	static char line[LINE];
	static size_t length;
	char text[4096];
	ssize_t got;

	while ((got = read(output, text, sizeof(text))) > 0) {
		for (ssize_t i = 0; i < got; i++) {
			if (text[i] != '\n')
				line[length++] = text[i];
			if (text[i] != '\n' && length < sizeof(line))
				continue;
			say(line, length);
			length = 0;
		}
	}
	if (end && length) {
		say(line, length);
		length = 0;
	}
}

static void run(unsigned number, double seconds, const char *directory, char **words)
{
	double begin = lab_seconds();

	lab_result("{\"begin\":%u}", number);
	int output, status = 0, late = 0;
	pid_t child = start(directory, words, &output);
	struct pollfd poll_output = { .fd = output, .events = POLLIN };

	for (;;) {
		pid_t gone = waitpid(child, &status, WNOHANG);

		pass_on(output, gone == child);
		if (gone == child)
			break;
		if (lab_seconds() - begin > seconds) {
			late = 1;
			kill(-child, SIGKILL);
			kill(child, SIGKILL);
		}
		poll(&poll_output, 1, 100);
		/* The test may have closed its output and be running still. */
		if (poll_output.revents & POLLHUP)
			poll_output.fd = -1;
	}
	/* Processes and files that a test leaves must not disturb the next. */
	kill(-child, SIGKILL);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	close(output);
	lab_result("{\"end\":%u,\"late\":%d,\"exit\":%d,\"signal\":%d,\"seconds\":%.1f}", number,
		   late, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		   WIFSIGNALED(status) ? WTERMSIG(status) : 0, lab_seconds() - begin);
}

/* The kernel may refuse a value: fewer huge pages are no reason to stop. */
static void set(const char *path, const char *value)
{
	int error = write_text(path, value);

	if (error)
		lab_note("%s does not take %s: %s", path, value, strerror(error));
}

/* "write PATH VALUE", "test NUMBER SECONDS DIRECTORY PROGRAM ARGUMENTS". */
static void obey(char *line, unsigned from, unsigned to)
{
	char *words[WORDS] = { 0 };
	unsigned count = 0;

	for (char *word = strtok(line, " \n"); word && count < WORDS - 1;
	     word = strtok(NULL, " \n"))
		words[count++] = word;
	if (count == 3 && !strcmp(words[0], "write")) {
		set(words[1], words[2]);
	} else if (count >= 5 && !strcmp(words[0], "test")) {
		unsigned number = strtoul(words[1], NULL, 10);

		if (number >= from && number <= to)
			run(number, strtod(words[2], NULL), words[3], words + 4);
	} else {
		errno = 0;
		lab_fail("the list has '%s' with %u words", words[0], count);
	}
}

int main(int argc, char **argv)
{
	static char line[4096];

	lab_start(argc, argv);
	int log = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);

	if (log < 0 || dup2(log, 1) < 0)
		lab_fail("open /dev/kmsg");
	mount_tmpfs("/tmp");
	mount_tmpfs("/dev/shm");
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/tmp", 1);
	/* A file that a test reads, since it exists everywhere. */
	mkdir("/etc", 0755);
	close(open("/etc/passwd", O_WRONLY | O_CREAT, 0644));
	lab_write("/etc/passwd", "root:x:0:0::/:/bin/sh\n");
	swap_to_memory();
	FILE *list = fopen(LIST, "re");

	if (!list)
		lab_fail("open " LIST);
	while (fgets(line, sizeof(line), list))
		obey(line, lab_number("from"), lab_number("to"));
	lab_done();
}
