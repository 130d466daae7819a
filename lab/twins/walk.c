// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Touches the lines of pages again and again, at addresses that are the frames of a
 * trace: what a simulator of virtual addresses is to see. Without a C library, so that
 * nothing else runs. frames.h is made by lab/twins/others.
 */
#include <stdint.h>

#include "frames.h"

#define PAGE 4096
#define LINE 64
#define BASE 0x100000000

static long call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "+a"(number)
			 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return number;
}

void _start(void)
{
	/* PROT_READ|WRITE; MAP_PRIVATE|FIXED|ANONYMOUS|NORESERVE */
	long got = call(9, BASE, SPAN, 3, 0x4032, -1, 0);

	for (int pass = 0; got == BASE && pass < PASSES; pass++)
		for (unsigned int n = 0; n < sizeof(frames) / sizeof(*frames); n++)
			for (int at = 0; at < PAGE; at += LINE) {
				volatile uint64_t *line =
					(volatile uint64_t *)(BASE + (uint64_t)frames[n] * PAGE + at);

				/* Every third line is written to. */
				if (at % (3 * LINE))
					(void)*line;
				else
					*line = at;
			}
	call(60, got != BASE, 0, 0, 0, 0, 0);
	__builtin_unreachable();
}
