/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Shared by all guest programs. A program is the kernel's first process, takes
 * settings as key=value arguments, prints results as JSON lines and powers the
 * machine off.
 */
#ifndef HUEPAGE_LAB_H
#define HUEPAGE_LAB_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "region.h"

#define PAGE 4096UL
#define MIB (1UL << 20)
#define HUGE_PAGE (2 * MIB)
#define THP "/sys/kernel/mm/transparent_hugepage/"

/* Mounts /proc, /sys, /dev, debugfs; keeps the arguments; first call in main. */
void lab_start(int argc, char **argv);

/* The value of an argument; without it the program fails and names it. */
const char *lab_text(const char *key);
uint64_t lab_number(const char *key);

/* From now on the calling thread runs on this CPU. */
void lab_run_on(unsigned int cpu);

/* fork(); the program fails if no child can be made. */
pid_t lab_fork(void);

/* Waits for a child, and fails with its name `who` if it did not end with 0. */
void lab_wait(pid_t child, const char *who);

/* Since some moment, by a clock that is never set. */
double lab_seconds(void);

/* One result: a JSON object, as printf would write it. */
void lab_result(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line for people, on the console only. */
void lab_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the run as done, or as failed with a reason and errno if it is set. */
void lab_done(void) __attribute__((noreturn));
void lab_fail(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/* Private anonymous memory, not yet touched. */
void *lab_map(size_t bytes);

/* The same, of pages that never become huge. */
void *lab_map_small(size_t bytes);

/* Touched memory that is shared with processes forked later. */
void *lab_map_shared(size_t bytes);

/* Reads or writes a file such as /proc/sys/vm/drop_caches, or fails. */
void lab_write(const char *path, const char *text);
uint64_t lab_read_number(const char *path);

/* In a file of lines "NAME NUMBER", the number of a name; 0 if it is not there. */
uint64_t lab_read_named(const char *path, const char *name);

/* A generator of its own, so that a seed gives the same run everywhere. */
struct lab_random {
	uint64_t state;
};
uint64_t lab_next(struct lab_random *random);
/* Uniform in [0, bound). */
uint64_t lab_below(struct lab_random *random, uint64_t bound);
/* Fisher-Yates. */
void lab_shuffle(struct lab_random *random, uint32_t *items, size_t count);

#endif
