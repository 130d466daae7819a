// SPDX-License-Identifier: GPL-2.0-or-later
#include "repeats.h"

static bool is_legacy_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: /* segments */
	case 0x64: case 0x65:
	case 0x66: case 0x67: /* sizes */
	case 0xf0: /* lock */
		return true;
	}
	return false;
}

static bool is_string(uint8_t opcode)
{
	return (opcode >= 0x6c && opcode <= 0x6f) || (opcode >= 0xa4 && opcode <= 0xa7) ||
	       (opcode >= 0xaa && opcode <= 0xaf);
}

bool repeats_in_x86(const uint8_t *instruction, size_t size)
{
	bool repeats = false;
	size_t i = 0;

	for (; i < size; i++) {
		if (instruction[i] == 0xf2 || instruction[i] == 0xf3)
			repeats = true;
		else if (!is_legacy_prefix(instruction[i]))
			break;
	}
	if (i < size && instruction[i] >= 0x40 && instruction[i] <= 0x4f) /* REX */
		i++;
	/* Nothing follows the opcode. */
	return repeats && i + 1 == size && is_string(instruction[i]);
}
