// SPDX-License-Identifier: MIT OR Apache-2.0
/* Operations on words of bits and their twin, chosen by libFuzzer. */
#include <stddef.h>
#include <stdint.h>

#include "side_by_side.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct numbers numbers = { .bytes = bytes, .left = size };

	if (size)
		side_by_side(&numbers, UINT64_MAX);
	return 0;
}
