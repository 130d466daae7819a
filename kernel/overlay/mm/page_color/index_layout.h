/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which bit stands for which block: color-major order.
 *
 * Frames count from @base, the span's start rounded down to the largest block,
 * and so do colors here: the frame at the base has color 0. Blocks of 2^order
 * frames begin at multiples of gcd(colors, 2^order) only; each such color is a
 * row. In a row, the blocks of a color are its copies, by ascending frame.
 *
 * With t = block % rows and copy = block / rows:
 *
 * - If 2^order divides the number of colors, as it mostly does, row = t, and
 *   the first rows are the ones with a copy more. Packed exactly.
 * - If no color occurs twice, block n is row n. Packed exactly.
 * - Else rows is odd and row = t * 2^order / gcd % rows, a permutation. Rows
 *   with a copy more lie scattered, so all are given the room.
 *
 * Divisions are multiplications with a reciprocal, as they are done at every
 * change of a free list.
 */
#ifndef _MM_PAGE_COLOR_INDEX_LAYOUT_H
#define _MM_PAGE_COLOR_INDEX_LAYOUT_H

#include <linux/math64.h>
#include <linux/types.h>

/**
 * struct page_color_divisor - divides numbers
 * @magic: numerator * 2^64 / @by + 1, or 0 to mean a quotient of 1
 * @by: the divisor, below 2^32
 *
 * The quotient of n is exact if n * @by < 2^64: @magic is too large by at most
 * one part in 2^64, which moves no quotient over the next integer as that is at
 * least 1 / @by away.
 */
struct page_color_divisor {
	u64 magic;
	u64 by;
};

/**
 * struct page_color_layout - the bits of an order
 * @blocks: blocks that end in the span, counted from the base
 * @rows: colors at which blocks begin
 * @copies: blocks of the same color, in all rows
 * @more: rows with one copy more: the first ones
 * @edge: the bit where these rows end
 * @order: blocks are of 2^@order frames
 * @unit: row n begins at color n * 2^@unit
 * @stretch: row = (block << @stretch) % rows
 * @inverse: block % rows = row * @inverse % rows
 * @by_rows: divides by @rows
 * @by_copies: divides by @copies
 * @by_copies_more: divides by @copies + 1
 * @inverse_by_rows: multiplies with @inverse and divides by @rows
 */
struct page_color_layout {
	u32 blocks;
	u32 rows;
	u32 copies;
	u32 more;
	u32 edge;
	u8 order;
	u8 unit;
	u8 stretch;
	u32 inverse;
	struct page_color_divisor by_rows;
	struct page_color_divisor by_copies;
	struct page_color_divisor by_copies_more;
	struct page_color_divisor inverse_by_rows;
};

/* Divides @numerator * n by @by: @numerator at most @by, and that not 0. */
static inline struct page_color_divisor
divisor_make(u64 numerator, u64 by)
{
	u64 high = (numerator << 32) / by;
	u64 low = ((numerator << 32) % by << 32) / by;

	return (struct page_color_divisor){
		.magic = numerator == by ? 0 : (high << 32) + low + 1,
		.by = by,
	};
}

static inline u64 divide(u64 n, const struct page_color_divisor *divisor)
{
	if (!divisor->magic)
		return n;
	return mul_u64_u64_shr(divisor->magic, n, 64);
}

static inline u64 modulo(u64 n, const struct page_color_divisor *divisor)
{
	return n - divide(n, divisor) * divisor->by;
}

/* The inverse of 2^@stretch modulo @odd. */
static inline u64 layout_inverse(unsigned int stretch, u64 odd)
{
	u64 inverse = 1 % odd;

	while (stretch--)
		inverse = (inverse % 2 ? inverse + odd : inverse) / 2;
	return inverse;
}

/**
 * layout_make() - the layout of an order
 * @frames: end of the span, counted from the base; below 2^32
 * @colors: number of colors
 * @order: the order
 */
static inline struct page_color_layout
layout_make(u64 frames, u64 colors, unsigned int order)
{
	struct page_color_layout layout = {
		.blocks = frames >> order,
		.order = order,
		.unit = order,
	};
	bool padded = false;
	u32 copies;

	if (colors >= frames) {
		layout.rows = layout.blocks ?: 1;
	} else {
		while (colors & ((1UL << layout.unit) - 1))
			layout.unit--;
		layout.stretch = order - layout.unit;
		layout.rows = colors >> layout.unit;
		padded = layout.stretch;
	}

	layout.copies = layout.blocks / layout.rows;
	layout.more = layout.blocks % layout.rows;
	if (padded && layout.more) {
		layout.copies++;
		layout.more = 0;
	}
	layout.edge = layout.more * (layout.copies + 1);
	copies = layout.copies ?: 1;
	layout.inverse = layout_inverse(layout.stretch, layout.rows);
	layout.by_rows = divisor_make(1, layout.rows);
	layout.by_copies = divisor_make(1, copies);
	layout.by_copies_more = divisor_make(1, (u64)copies + 1);
	layout.inverse_by_rows = divisor_make(layout.inverse, layout.rows);
	return layout;
}

/* The first bit of a row; of the row after the last, the number of bits. */
static inline u64 layout_row(const struct page_color_layout *layout, u64 row)
{
	u64 more = row < layout->more ? row : layout->more;

	return row * layout->copies + more;
}

static inline u64 layout_bits(const struct page_color_layout *layout)
{
	return layout_row(layout, layout->rows);
}

/* The row of a block, given its number. */
static inline u64 layout_row_of(const struct page_color_layout *layout,
				u64 block)
{
	return modulo(block << layout->stretch, &layout->by_rows);
}

/* The bit of a block, given its number. */
static inline u64 layout_bit(const struct page_color_layout *layout, u64 block)
{
	u64 copy = divide(block, &layout->by_rows);

	return layout_row(layout, layout_row_of(layout, block)) + copy;
}

/* The number of the block of a bit. */
static inline u64 layout_block(const struct page_color_layout *layout, u64 bit)
{
	u64 row, copy;

	if (bit < layout->edge) {
		row = divide(bit, &layout->by_copies_more);
		copy = bit - row * (layout->copies + 1);
	} else {
		bit -= layout->edge;
		row = divide(bit, &layout->by_copies);
		copy = bit - row * layout->copies;
		row += layout->more;
	}
	if (layout->stretch)
		row = row * layout->inverse -
		      divide(row, &layout->inverse_by_rows) * layout->rows;
	return copy * layout->rows + row;
}

/*
 * The row to search from: the first whose blocks contain @color, or if there
 * is none, the one after. Color - 2^order + 1 is the first that a block with
 * the wanted color in it can begin at.
 */
static inline u64 layout_first_row(const struct page_color_layout *layout,
				   u64 colors, u64 color)
{
	u64 before = (1UL << layout->order) - 1;
	u64 row;

	if (before >= colors - 1)
		return 0;
	if (color < before)
		color += colors;
	row = (color - before + (1UL << layout->unit) - 1) >> layout->unit;
	return row < layout->rows ? row : 0;
}

#endif /* _MM_PAGE_COLOR_INDEX_LAYOUT_H */
