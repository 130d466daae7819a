/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * REGION_BEGIN(id) and REGION_END(id) mark a region of interest, 0 <= id < 4096,
 * for the modelled memory hierarchy. Each is one instruction that does nothing
 * by itself; the model recognizes it, does not count it, and from there on
 * counts for all CPUs what they execute and access. Regions do not nest.
 *
 * The id is a constant, as it is part of the instruction. For C and for
 * assembler run through the preprocessor.
 */
#ifndef HUEPAGE_REGION_H
#define HUEPAGE_REGION_H

#if defined(__x86_64__) || defined(__i386__)
/* nopl disp32(%rax,%rax,1) */
#define HUEPAGE_MARK_BASE 0x48500000
#define HUEPAGE_MARK_TEXT(number) ".byte 0x0f, 0x1f, 0x84, 0x00; .long " number
#elif defined(__aarch64__)
/* movz xzr, #number */
#define HUEPAGE_MARK_BASE 0x4000
#define HUEPAGE_MARK_TEXT(number) ".inst 0xd280001f | ((" number ") << 5)"
#else
#error "regions of interest are known on x86 and arm64 only"
#endif

#ifdef __ASSEMBLER__

.macro huepage_mark number
#ifdef __aarch64__
	.inst 0xd280001f | ((\number) << 5)
#else
	.byte 0x0f, 0x1f, 0x84, 0x00
	.long \number
#endif
.endm

#define REGION_BEGIN(id) huepage_mark number=(HUEPAGE_MARK_BASE | (id) << 1)
#define REGION_END(id) huepage_mark number=(HUEPAGE_MARK_BASE | (id) << 1 | 1)

#else

/* Memory is clobbered so that no access moves across the mark. */
#define HUEPAGE_MARK(id, end)                                                            \
	do {                                                                             \
		_Static_assert((id) >= 0 && (id) < 4096, "a region's id is 0 to 4095");  \
		__asm__ volatile(HUEPAGE_MARK_TEXT("%c0")                                \
				 :                                                       \
				 : "i"(HUEPAGE_MARK_BASE | (id) << 1 | (end))            \
				 : "memory");                                            \
	} while (0)

#define REGION_BEGIN(id) HUEPAGE_MARK(id, 0)
#define REGION_END(id) HUEPAGE_MARK(id, 1)

#endif

#endif
