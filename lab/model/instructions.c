// SPDX-License-Identifier: GPL-2.0-or-later
#include "instructions.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned int cpu_count;
static unsigned int running_cpu;
static bool thread_known;
static pthread_t thread;

static void check_thread(void)
{
	if (!thread_known) {
		thread_known = true;
		thread = pthread_self();
	} else if (!pthread_equal(thread, pthread_self())) {
		fprintf(stderr, "huepage model: CPUs run in several threads, so nothing can be "
				"counted exactly: run QEMU with -accel tcg,thread=single\n");
		/* Not exit(): other threads may be running the model. */
		_Exit(1);
	}
}

#if QEMU_PLUGIN_VERSION == 1

/*
 * In version 1 the counter that translated code adds to is the same for all
 * CPUs. What was added since the last change of CPUs belongs to the CPU that
 * runs now.
 */
static uint64_t executed;
static uint64_t executed_before;
static uint64_t *by_cpu;

static bool init_counters(void)
{
	by_cpu = calloc(cpu_count, sizeof(*by_cpu));
	return by_cpu;
}

static void credit_running_cpu(void)
{
	by_cpu[running_cpu] += executed - executed_before;
	executed_before = executed;
}

void instructions_count(struct qemu_plugin_insn *insn)
{
	qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &executed, 1);
}

uint64_t instructions_of(unsigned int cpu)
{
	credit_running_cpu();
	return by_cpu[cpu];
}

#else

static qemu_plugin_u64 by_cpu;

static bool init_counters(void)
{
	by_cpu = qemu_plugin_scoreboard_u64(qemu_plugin_scoreboard_new(sizeof(uint64_t)));
	return true;
}

static void credit_running_cpu(void)
{
}

void instructions_count(struct qemu_plugin_insn *insn)
{
	qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, QEMU_PLUGIN_INLINE_ADD_U64,
							    by_cpu, 1);
}

uint64_t instructions_of(unsigned int cpu)
{
	return qemu_plugin_u64_get(by_cpu, cpu);
}

#endif

static void block_begins(unsigned int cpu, void *data)
{
	(void)data;
	if (cpu == running_cpu)
		return;
	check_thread();
	credit_running_cpu();
	running_cpu = cpu;
}

bool instructions_init(unsigned int cpus)
{
	cpu_count = cpus;
	return init_counters();
}

void instructions_follow_block(struct qemu_plugin_tb *tb)
{
	if (cpu_count > 1)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, block_begins, QEMU_PLUGIN_CB_NO_REGS,
						     NULL);
}
