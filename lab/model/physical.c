// SPDX-License-Identifier: GPL-2.0-or-later
#include "physical.h"

#include <dlfcn.h>
#include <stdio.h>

#include "description.h"

/* From this version of the interface on, the reported address is physical. */
#define FIRST_CORRECT_VERSION 2

/* Memory has no smaller parts; ROMs have, but those below 1 MiB are left out. */
#define PART_SHIFT 20
#define PART_COUNT (1u << 15)

struct part {
	uint64_t number_plus_1;
	uint64_t offset; /* physical - reported, modulo 2^64 */
};

static struct part parts[PART_COUNT];
static bool is_reported_right;

/* Functions of QEMU, not of its plugin interface; older than 7.2. */
static void *(*qemu_get_cpu)(int index);
static uint64_t (*cpu_get_phys_page_debug)(void *cpu, uint64_t page);

bool physical_init(const qemu_info_t *info)
{
	is_reported_right = info->version.cur >= FIRST_CORRECT_VERSION;
	if (is_reported_right)
		return true;
	/* POSIX guarantees that a function's address fits into a pointer. */
	*(void **)&qemu_get_cpu = dlsym(RTLD_DEFAULT, "qemu_get_cpu");
	*(void **)&cpu_get_phys_page_debug = dlsym(RTLD_DEFAULT, "cpu_get_phys_page_debug");
	if (qemu_get_cpu && cpu_get_phys_page_debug)
		return true;
	fprintf(stderr, "huepage model: this QEMU tells no physical addresses: use QEMU 9.0 or "
			"later, or one that exports cpu_get_phys_page_debug, as Debian's does\n");
	return false;
}

static uint64_t walk(unsigned int cpu, uint64_t virtual_address, uint64_t reported)
{
	uint64_t in_page = virtual_address & ((1 << PAGE_SHIFT) - 1);
	uint64_t page = cpu_get_phys_page_debug(qemu_get_cpu(cpu), virtual_address - in_page);
	struct part *part = &parts[(reported >> PART_SHIFT) % PART_COUNT];

	if (page == UINT64_MAX)
		return reported;
	/* Below 1 MiB ROMs hide memory, and are reported at other addresses. */
	if (page >> PART_SHIFT)
		*part = (struct part){ (reported >> PART_SHIFT) + 1, page + in_page - reported };
	return page + in_page;
}

bool physical_address(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t virtual_address,
		      uint64_t *physical)
{
	const struct qemu_plugin_hwaddr *found = qemu_plugin_get_hwaddr(info, virtual_address);
	const struct part *part;
	uint64_t reported;

	if (!found || qemu_plugin_hwaddr_is_io(found))
		return false;
	reported = qemu_plugin_hwaddr_phys_addr(found);
	part = &parts[(reported >> PART_SHIFT) % PART_COUNT];
	if (is_reported_right)
		*physical = reported;
	else if (part->number_plus_1 == (reported >> PART_SHIFT) + 1)
		*physical = reported + part->offset;
	else
		*physical = walk(cpu, virtual_address, reported);
	return true;
}
