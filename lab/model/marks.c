// SPDX-License-Identifier: GPL-2.0-or-later
#include "marks.h"

#define REGION_AND_END 0x1fffu

static uint32_t little_endian(const uint8_t *bytes)
{
	return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static bool read_mark(uint32_t number, uint32_t base, struct mark *mark)
{
	if ((number & ~REGION_AND_END) != base)
		return false;
	mark->region = (number & REGION_AND_END) >> 1;
	mark->is_end = number & 1;
	return true;
}

bool mark_in_x86(const uint8_t *instruction, size_t size, struct mark *mark)
{
	return size == 8 && little_endian(instruction) == 0x00841f0f &&
	       read_mark(little_endian(instruction + 4), 0x48500000, mark);
}

bool mark_in_arm64(const uint8_t *instruction, size_t size, struct mark *mark)
{
	uint32_t code;

	if (size != 4)
		return false;
	code = little_endian(instruction);
	return (code & ~(0xffffu << 5)) == 0xd280001f && read_mark(code >> 5 & 0xffff, 0x4000, mark);
}
