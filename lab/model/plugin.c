// SPDX-License-Identifier: GPL-2.0-or-later
/* What QEMU calls: passes the guest's instructions and accesses to the model. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hierarchy.h"
#include "instructions.h"
#include "marks.h"
#include "options.h"
#include "physical.h"
#include "qemu_api.h"
#include "region.h"
#include "repeats.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static struct description description;
static struct hierarchy hierarchy;
static struct regions regions;
static bool is_x86;
static bool (*find_mark)(const uint8_t *instruction, size_t size, struct mark *mark);

#define PAGE_SIZE (UINT64_C(1) << PAGE_SHIFT)

static void memory_accessed(unsigned int index, qemu_plugin_meminfo_t info, uint64_t address,
			    void *data)
{
	struct cpu *cpu = &hierarchy.cpus[index];
	uint32_t size, cycles, on_next_page;
	uint64_t physical, next;

	(void)data;
	if (description.skip_outside && !regions.inside)
		return;
	if (!physical_address(index, info, address, &physical))
		return;
	size = 1u << qemu_plugin_mem_size_shift(info);
	if ((address & (PAGE_SIZE - 1)) + size <= PAGE_SIZE) {
		cycles = hierarchy_touch(&hierarchy, cpu, physical, size);
	} else {
		on_next_page = (address + size) & (PAGE_SIZE - 1);
		cycles = hierarchy_touch(&hierarchy, cpu, physical, size - on_next_page);
		if (physical_address(index, info, address + size - on_next_page, &next))
			cycles += hierarchy_touch(&hierarchy, cpu, next, on_next_page);
	}
	hierarchy_count(&hierarchy, cpu, physical, cycles);
}

static void region_begins(unsigned int cpu, void *data)
{
	(void)cpu;
	region_begin(&regions, (uintptr_t)data);
}

static void region_ends(unsigned int cpu, void *data)
{
	(void)cpu;
	region_end(&regions, (uintptr_t)data);
}

static void address_executed(unsigned int cpu, void *times)
{
	(void)cpu;
	if (regions.inside)
		++*(uint64_t *)times;
}

static void follow_address(struct qemu_plugin_insn *insn)
{
	uint64_t *times = addresses_count_of(&regions.addresses, qemu_plugin_insn_vaddr(insn));

	if (times)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, address_executed,
						       QEMU_PLUGIN_CB_NO_REGS, times);
}

/* The instruction's bytes: room for them is in `bytes`. NULL if there is too little. */
static const uint8_t *bytes_of(const struct qemu_plugin_insn *insn, uint8_t bytes[16])
{
#if QEMU_PLUGIN_VERSION < 3
	(void)bytes;
	return qemu_plugin_insn_data(insn);
#else
	size_t size = qemu_plugin_insn_size(insn);

	return size <= 16 && qemu_plugin_insn_data(insn, bytes, size) == size ? bytes : NULL;
#endif
}

/* Marks are not counted, so a region has the count of the instructions between them. */
static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	instructions_follow_block(tb);
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		size_t size = qemu_plugin_insn_size(insn);
		uint8_t room[16];
		const uint8_t *bytes = bytes_of(insn, room);
		struct mark mark;

		if (bytes && find_mark(bytes, size, &mark)) {
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, mark.is_end ? region_ends : region_begins,
				QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)mark.region);
			continue;
		}
		if (!(description.skip_strings && bytes && is_x86 &&
		      repeats_in_x86(bytes, size))) {
			instructions_count(insn);
			if (description.addresses)
				follow_address(insn);
		}
		qemu_plugin_register_vcpu_mem_cb(insn, memory_accessed, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
	}
}

#if QEMU_PLUGIN_VERSION < 7
static void qemu_exits(qemu_plugin_id_t id, void *data)
{
	(void)id;
#else
static void qemu_exits(void *data)
{
#endif
	(void)data;
	regions_finish(&regions);
}

static int refuse(const char *error)
{
	fprintf(stderr, "huepage model: %s\n", error);
	return -1;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
					   int option_count, char **options)
{
	char error[400];
	FILE *out;

	if (!info->system_emulation)
		return refuse("only whole systems have physical memory: run qemu-system-…");
	if (!strcmp(info->target_name, "x86_64") || !strcmp(info->target_name, "i386"))
		find_mark = mark_in_x86;
	else if (!strcmp(info->target_name, "aarch64"))
		find_mark = mark_in_arm64;
	else
		return refuse("regions of interest are known on x86_64, i386 and aarch64 only");
	is_x86 = find_mark == mark_in_x86;
	if (!physical_init(info))
		return -1;
	for (int i = 0; i < option_count; i++)
		if (!options_add(&description, options[i], error, sizeof(error)))
			return refuse(error);
	if (!options_check(&description, error, sizeof(error)))
		return refuse(error);
	if (!description.out)
		return refuse("option out=FILE is missing: it names the file for the records");
	if (!hierarchy_init(&hierarchy, &description, info->system.max_vcpus, error, sizeof(error)))
		return refuse(error);
	out = fopen(description.out, "w");
	if (!out) {
		snprintf(error, sizeof(error), "option out=%s: %s", description.out,
			 strerror(errno));
		return refuse(error);
	}
	if (!regions_init(&regions, &hierarchy, out, instructions_of) ||
	    !instructions_init(info->system.max_vcpus))
		return refuse("not enough memory");
	qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
	qemu_plugin_register_atexit_cb(id, qemu_exits, NULL);
	return 0;
}
