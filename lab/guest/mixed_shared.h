/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Loads with pages of files, and with pages that the kernel merges. */
#ifndef HUEPAGE_MIXED_SHARED_H
#define HUEPAGE_MIXED_SHARED_H

#include "ksmd.h"
#include "neighbors.h"

/* A file in memory, mapped; it goes with the process. */
static inline char *file_pages(size_t pages)
{
	int file = memfd_create("mapped", MFD_CLOEXEC);

	if (file < 0 || ftruncate(file, pages * PAGE))
		lab_fail("make a file of %zu pages", pages);
	char *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	if (memory == MAP_FAILED)
		lab_fail("map a file");
	return memory;
}

static inline void load_tmpfs(struct mixed *mixed)
{
	char *memory = file_pages(mixed->pages);

	touch(memory, mixed->pages);
	count(mixed, memory, mixed->pages);
}

/* As many pages of each kind, in turn, a piece of the stream at a time. */
static inline void load_three_kinds(struct mixed *mixed)
{
	const size_t piece = STREAM_PIECE / PAGE;
	char *anonymous = small_pages(mixed->pages), *file = file_pages(mixed->pages);

	for (size_t at = 0; at < mixed->pages; at += piece) {
		for (size_t i = at; i < at + piece && i < mixed->pages; i++) {
			touch_page(anonymous, i);
			touch_page(file, i);
		}
		stream(mixed);
	}
	count(mixed, anonymous, mixed->pages);
	drop_stream();
}

/* Half of the pages are the same, are merged and come apart again. */
static inline void load_ksm(struct mixed *mixed)
{
	size_t half = mixed->pages / 2;
	char *memory = small_pages(mixed->pages);

	if (access(KSM "run", W_OK))
		mixed_skip(mixed, "the kernel has no KSM");
	touch(memory, mixed->pages);
	for (size_t i = 0; i < half; i++)
		*(volatile uint64_t *)(memory + i * PAGE) = 1;
	if (madvise(memory, half * PAGE, MADV_MERGEABLE))
		lab_fail("ask for pages to be merged");
	uint64_t sharing = ksm_settle().sharing;

	errno = 0;
	if (sharing < half * 9 / 10)
		lab_fail("%lu of %zu pages were merged", (unsigned long)sharing, half);
	lab_write(KSM "run", "2");
	lab_write(KSM "run", "0");
	count(mixed, memory, mixed->pages);
}

#endif
