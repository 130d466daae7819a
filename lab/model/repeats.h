/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPEATS_H
#define REPEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether an x86 instruction is one of those on strings (movs, stos, …) with a
 * prefix that repeats it. QEMU begins it once per repetition, a processor once.
 */
bool repeats_in_x86(const uint8_t *instruction, size_t size);

#endif
