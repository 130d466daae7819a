/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the kernel's <linux/bitmap.h> and <linux/find.h> have of bitmaps. */
#ifndef HARNESS_LINUX_BITMAP_H
#define HARNESS_LINUX_BITMAP_H

#define BITS_TO_LONGS(bits) (((bits) + 63) / 64)
#define DECLARE_BITMAP(name, bits) unsigned long name[BITS_TO_LONGS(bits)]

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

static inline unsigned long find_next_zero_bit(const unsigned long *map,
					       unsigned long size, unsigned long from)
{
	while (from < size && map[from / 64] >> from % 64 & 1)
		from++;
	return from;
}

#define for_each_set_bitrange(first, end, map, size)                                    \
	for ((first) = find_next_bit(map, size, 0);                                     \
	     (first) < (size) && ((end) = find_next_zero_bit(map, size, first), true);  \
	     (first) = find_next_bit(map, size, end))

/* Not defined: no list is read here. */
int bitmap_parselist(const char *list, unsigned long *map, int bits);
void bitmap_or(unsigned long *map, const unsigned long *a, const unsigned long *b,
	       unsigned int bits);
_Bool bitmap_full(const unsigned long *map, unsigned int bits);

#endif
