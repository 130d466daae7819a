/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What programs do to memory, and where their pages are then. */
#ifndef SIM_LOADS_H
#define SIM_LOADS_H

#include "design.h"

struct machine {
	struct zone zone;
	const struct design *design;
	uint32_t *files;	/* pages of files that stay */
	uint32_t nr_files;
	uint32_t *slabs;	/* unmovable pages that stay */
	uint32_t nr_slabs;
	/* Files that are written and cut again and again. */
	uint32_t churned[64][64];
	uint32_t nr_churned[64];
	/* A large file that is read, a quarter of memory of it kept. */
	uint32_t *streamed;
	uint32_t nr_streamed, stream_at;
};

/* Shares of pages whose color another page has, too. */
struct conflicts {
	double within;		/* of the same address space */
	double across;		/* of any that is measured */
};

struct load {
	const char *name;
	double fill;
	struct conflicts (*run)(struct machine *machine, double fill);
};

extern const struct load loads[];
extern const unsigned int nr_loads;

void machine_start(struct machine *machine, const struct design *design,
		   uint32_t frames, uint32_t colors);
void machine_stop(struct machine *machine);
/* A day of other work, all of it ended but for some files and slabs. */
void machine_age(struct machine *machine);

/* A small process that maps, touches and unmaps 1 to 48 pages, so many times. */
void machine_loop(struct machine *machine, unsigned int times);

#endif
