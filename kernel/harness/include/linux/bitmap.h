/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the kernel's <linux/bitmap.h> and <linux/find.h> have of bitmaps. */
#ifndef HARNESS_LINUX_BITMAP_H
#define HARNESS_LINUX_BITMAP_H

#define DECLARE_BITMAP(name, bits) unsigned long name[((bits) + 63) / 64]

static inline void __set_bit(unsigned long bit, unsigned long *map)
{
	map[bit / 64] |= 1UL << bit % 64;
}

static inline unsigned long find_next_bit(const unsigned long *map, unsigned long size,
					  unsigned long from)
{
	while (from < size && !(map[from / 64] >> from % 64 & 1))
		from++;
	return from;
}

#endif
