/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Writes many numbers in few characters: each takes the same number of letters, of six
 * bits each, the highest first. `two_guests/letters.rs` reads them.
 */
#ifndef HUEPAGE_LETTERS_H
#define HUEPAGE_LETTERS_H

#include "lab.h"

static inline void letters_put(char *to, uint64_t number, unsigned int count)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	if (number >> 6 * count)
		lab_fail("%lu does not fit into %u letters", (unsigned long)number, count);
	for (unsigned int i = 0; i < count; i++)
		to[i] = letters[number >> 6 * (count - 1 - i) & 63];
}

#endif
