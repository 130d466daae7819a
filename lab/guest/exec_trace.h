/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Follows a program and all processes that it starts, by ptrace: when it begins, and
 * what each process has mapped when it ends. Nothing is counted while mappings are
 * read.
 */
#ifndef HUEPAGE_EXEC_TRACE_H
#define HUEPAGE_EXEC_TRACE_H

#include "exec_mappings.h"
#include "exec_system.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

struct program {
	char **arguments, **environment, *directory;
	int output, errors;
};

#define TRACE_OPTIONS                                                                    \
	(PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_TRACEFORK |   \
	 PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE)

/* Reads all of a file; a zero byte follows. */
static inline char *program_file(const char *folder, const char *name, size_t *size)
{
	char path[64], *text = NULL;
	size_t room = 0;

	*size = 0;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		lab_fail("open %s", path);
	for (ssize_t got = 1; got > 0; *size += got) {
		room += 65536;
		text = realloc(text, room + 1);
		if (!text)
			lab_fail("memory for %s", path);
		got = read(file, text + *size, room - *size);
		if (got < 0)
			lab_fail("read %s", path);
	}
	close(file);
	text[*size] = 0;
	return text;
}

static inline char **program_words(const char *folder, const char *name)
{
	size_t size, count = 0;
	char *text = program_file(folder, name, &size);
	char **words = calloc(size + 1, sizeof(*words));

	if (!words)
		lab_fail("memory for %s", name);
	for (char *word = text; word < text + size; word += strlen(word) + 1)
		words[count++] = word;
	return words;
}

static inline int program_output(const char *folder, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	if (file < 0)
		lab_fail("make %s", path);
	return file;
}

static inline struct program program_read(const char *folder)
{
	size_t size;

	return (struct program){
		.arguments = program_words(folder, "arguments"),
		.environment = program_words(folder, "environment"),
		.directory = program_file(folder, "directory", &size),
		.output = program_output(folder, "stdout"),
		.errors = program_output(folder, "stderr"),
	};
}

static inline void program_begin(const struct program *program)
{
	int nothing = open("/dev/null", O_RDONLY);

	if (ptrace(PTRACE_TRACEME, 0, 0, 0) || raise(SIGSTOP))
		lab_fail("have the program followed");
	dup2(nothing, 0);
	dup2(program->output, 1);
	dup2(program->errors, 2);
	if (chroot(ROOT) || chdir(program->directory)) {
		dprintf(2, "%s: %s\n", program->directory, strerror(errno));
		_exit(127);
	}
	environ = program->environment;
	execvp(program->arguments[0], program->arguments);
	dprintf(2, "%s: %s\n", program->arguments[0], strerror(errno));
	_exit(127);
}

/* The process to which a thread belongs. */
static inline pid_t trace_process(pid_t thread)
{
	char path[64], line[128];
	pid_t process = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", thread);
	FILE *status = fopen(path, "r");

	while (status && !process && fgets(line, sizeof(line), status))
		if (sscanf(line, "Tgid: %d", &process) != 1)
			process = 0;
	if (!process)
		lab_fail("read %s", path);
	fclose(status);
	return process;
}

struct trace {
	FILE *mappings;
	bool begun;
};

/* Handles a stop; returns the signal that is passed on to the program. */
static inline int trace_stop(struct trace *trace, pid_t thread, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;

	if (event == PTRACE_EVENT_EXEC && !trace->begun) {
		trace->begun = true;
		REGION_BEGIN(1);
	} else if (event == PTRACE_EVENT_EXIT && trace->begun &&
		   trace_process(thread) == thread) {
		REGION_END(1);
		mappings_write(trace->mappings, thread);
		REGION_BEGIN(1);
	}
	/* A process that was just started stops once. */
	return event || signal == SIGSTOP ? 0 : signal;
}

/* Returns the status with which the program ended. */
static inline int trace(const struct program *program, FILE *mappings)
{
	struct trace trace = { .mappings = mappings };
	int status, result = 0;
	pid_t first = lab_fork(), thread;

	if (!first)
		program_begin(program);
	if (waitpid(first, &status, 0) != first || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, first, 0, TRACE_OPTIONS) ||
	    ptrace(PTRACE_CONT, first, 0, 0))
		lab_fail("follow the program");
	while ((thread = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status)) {
			int signal = trace_stop(&trace, thread, status);

			/* It may have been killed meanwhile. */
			if (ptrace(PTRACE_CONT, thread, 0, signal) && errno != ESRCH)
				lab_fail("let process %d go on", thread);
		} else if (thread == first) {
			result = status;
		}
	}
	if (trace.begun)
		REGION_END(1);
	return result;
}

#endif
