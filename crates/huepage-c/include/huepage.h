/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Memory placed by cache color.
 *
 *	huepage *colors;
 *	void *memory;
 *
 *	if (huepage_open(NULL, &colors) || huepage_alloc(colors, size, &memory))
 *		errx(1, "%s", huepage_message());
 *
 * Link with -lhuepage. Calls return 0 or one of the codes below; huepage_message()
 * then says why and what to do. A handle may be used by several threads at once.
 * After fork() a child goes on using memory that it inherited, and opens a handle
 * of its own for more.
 */
#ifndef HUEPAGE_H
#define HUEPAGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum huepage_code {
	HUEPAGE_OK = 0,
	HUEPAGE_E_ARGUMENT = 1,    /* an argument is wrong */
	HUEPAGE_E_PRIVILEGE = 2,   /* the process may not do this */
	HUEPAGE_E_UNSUPPORTED = 3, /* the machine or its kernel cannot do this */
	HUEPAGE_E_UNTRUSTED = 4,   /* no answer about colors could be trusted */
	HUEPAGE_E_MEMORY = 5,      /* memory is short */
	HUEPAGE_E_SHORT = 6,       /* pages of the colors asked for are short */
	HUEPAGE_E_PROCESS = 7,     /* the handle is that of the parent process */
	HUEPAGE_E_SYSTEM = 8,      /* the system refused something */
	HUEPAGE_E_INTERNAL = 9     /* a defect of this library */
};

enum huepage_colors_by {
	HUEPAGE_BY_AUTO = 0,         /* measure, and check frame numbers against it */
	HUEPAGE_BY_FRAME_NUMBER = 1, /* true on bare metal; takes CAP_SYS_ADMIN */
	HUEPAGE_BY_MEASUREMENT = 2
};

enum huepage_policy {
	HUEPAGE_BALANCED = 0, /* any stretch has every color equally often */
	HUEPAGE_SEQUENCE = 1  /* the next color to the page touched next; takes
	                         CAP_SYS_PTRACE or /dev/userfaultfd */
};

/* Begin with HUEPAGE_OPTIONS_INIT, so that what is added later has its default. */
typedef struct huepage_options {
	size_t size;        /* sizeof(huepage_options) */
	int32_t cpu;        /* whose cache; negative: the last that may be used */
	uint32_t colors_by; /* enum huepage_colors_by */
	uint32_t policy;    /* enum huepage_policy */
	uint32_t reserved;  /* 0 */
	uint64_t pool;      /* bytes to draw pages for at once; 0: when asked for */
} huepage_options;

#define HUEPAGE_OPTIONS_INIT \
	{ sizeof(huepage_options), -1, HUEPAGE_BY_AUTO, HUEPAGE_BALANCED, 0, 0 }

/* What became of the pages of some memory. */
typedef struct huepage_report {
	size_t already;  /* are of the color they were placed as */
	size_t placed;   /* were not, and were exchanged */
	size_t short_of; /* are not, and there is no page to exchange for */
	size_t other;    /* stay for other reasons, or color unknown */
} huepage_report;

typedef struct huepage huepage;

/*
 * Finds the colors of the cache: about a quarter of a second where they are
 * measured. NULL for options: all defaults.
 */
int huepage_open(const huepage_options *options, huepage **out);

/* Unmaps all memory of the handle that was not freed. NULL is fine. */
void huepage_close(huepage *handle);

/* How many colors there are. */
uint32_t huepage_colors(const huepage *handle);

/* How colors are found, and why this way, in a sentence; valid as long as the handle. */
const char *huepage_reason(const huepage *handle);

/* Zeroed memory, placed by the policy of the handle; begins with a page. */
int huepage_alloc(huepage *handle, size_t size, void **out);

/* The same in these colors only, in turns: a part of the cache. */
int huepage_alloc_in(huepage *handle, size_t size, const uint32_t *colors,
		     size_t count, void **out);

/* Gives memory back; its pages keep their colors for the next. NULL is fine. */
int huepage_free(huepage *handle, void *memory);

/*
 * The colors of the pages that so many bytes from start lie in, placed or not; -1
 * for one that was never written or cannot be classified now. Stores at most capacity of
 * them, and their number in *pages. The memory is readable, and stays mapped.
 */
int huepage_colors_of(huepage *handle, const void *start, size_t size,
		      int32_t *colors, size_t capacity, size_t *pages);

/*
 * Splits the cache into disjoint parts in proportion to shares. Stores for each of
 * the huepage_colors() colors the index of its part.
 */
int huepage_split(const huepage *handle, const uint32_t *shares, size_t parts,
		  uint32_t *part_of_color);

/*
 * Asks for the colors of memory from huepage_alloc anew, and exchanges pages that
 * the kernel or the host has moved. No other thread uses the memory meanwhile.
 * NULL for out is fine.
 */
int huepage_reverify(huepage *handle, void *memory, huepage_report *out);

/* Why the last call of this thread that failed did, until the next one that does. */
const char *huepage_message(void);

/* The version of the library. */
const char *huepage_version(void);

#ifdef __cplusplus
}
#endif

#endif
