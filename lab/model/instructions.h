/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many instructions each CPU executed.
 *
 * Every instruction is counted when it is begun, so the counts are exact also
 * where a translated block is left early. An instruction that faults counts
 * again when it is begun again, and a repeated x86 string instruction counts
 * once per repetition, as QEMU begins it that often.
 *
 * All CPUs must run in one thread (-accel tcg,thread=single, or -icount), which
 * is checked when another CPU runs; with more threads the model would be
 * neither exact nor repeatable.
 */
#ifndef INSTRUCTIONS_H
#define INSTRUCTIONS_H

#include "qemu_api.h"

bool instructions_init(unsigned int cpu_count);

/* To be called for every block when it is translated. */
void instructions_follow_block(struct qemu_plugin_tb *tb);

/* Counts the instruction whenever it is executed. */
void instructions_count(struct qemu_plugin_insn *insn);

uint64_t instructions_of(unsigned int cpu);

#endif
