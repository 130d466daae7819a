/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the bare guests do, in terms of the macros of each architecture:
 *
 *   read_all reads, stride, rounds   reads of 4 bytes from DATA on, stride
 *                                    apart, all of it rounds times
 *   read_at offset                   one read of 4 bytes at DATA + offset
 */
#ifdef BENCHMARK

	/* An array of 8 MiB, again and again. */
	REGION_BEGIN(10)
	read_all 0x100000, 8, BENCHMARK
	REGION_END(10)

#else

	/* Of one of 64 sets of 8 ways, a line too many, then as many as it has. */
	REGION_BEGIN(9)
	read_all 9, 4096, 100000
	REGION_END(9)
	REGION_BEGIN(8)
	read_all 8, 4096, 100000
	REGION_END(8)

	/* Nothing, then what can't be: an end twice, and one inside the other. */
	REGION_BEGIN(1)
	REGION_END(1)
	REGION_END(1)
	REGION_BEGIN(2)
	REGION_BEGIN(3)
	REGION_END(3)
	REGION_END(2)

#ifdef SECOND_NODE
	/* One line of the memory that SECOND_NODE bytes behind DATA belongs to. */
	REGION_BEGIN(4)
	read_at SECOND_NODE
	REGION_END(4)
#endif

#ifndef __aarch64__
	/* Across two lines, then across two pages; unaligned reads take a page
	   table on arm64. */
	REGION_BEGIN(5)
	read_at 0x10003e
	read_at 0x100ffe
	REGION_END(5)
#else
	/* The second CPU reads; this one waits until it has. */
	REGION_BEGIN(6)
	start_second_cpu
	REGION_END(6)
#endif

	/* Without an end. */
	REGION_BEGIN(7)

#endif
