/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions by which a guest marks a region of interest; they do
 * nothing else. lab/guest/region.h has them as macros.
 *
 *   x86    nopl disp32(%rax,%rax,1), 0f 1f 84 00 and the displacement
 *          0x48500000 | region << 1 | end
 *   arm64  movz xzr, #(0x4000 | region << 1 | end)
 */
#ifndef MARKS_H
#define MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mark {
	unsigned int region; /* 0..4095 */
	bool is_end;
};

bool mark_in_x86(const uint8_t *instruction, size_t size, struct mark *mark);
bool mark_in_arm64(const uint8_t *instruction, size_t size, struct mark *mark);

#endif
