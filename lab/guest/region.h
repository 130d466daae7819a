/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Marks regions of interest for the model, by instructions that do nothing
 * and that compilers do not emit. Region numbers are constants from 0 to 4095.
 */
#ifndef HUEPAGE_REGION_H
#define HUEPAGE_REGION_H

#if defined(__x86_64__) || defined(__i386__)
#define REGION_MARK(id, end)                                                   \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long %c0"           \
			 : : "i"(0x48500000 | (id) << 1 | (end)) : "memory")
#elif defined(__aarch64__)
#define REGION_MARK(id, end)                                                   \
	__asm__ volatile("movz xzr, %0"                                        \
			 : : "i"(0x4000 | (id) << 1 | (end)) : "memory")
#else
#error "no marks for this architecture"
#endif

#define REGION_BEGIN(id) REGION_MARK(id, 0)
#define REGION_END(id) REGION_MARK(id, 1)

#endif
