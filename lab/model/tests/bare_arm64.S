/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest without an operating system, so that every instruction and access is
 * known. The MMU is off: addresses are physical. QEMU's virt machine loads it
 * as a kernel; it powers off through PSCI.
 */
#include "../../guest/region.h"

#define DATA 0x40800000
#define PSCI_SYSTEM_OFF 0x84000008
#define PSCI_CPU_ON 0xc4000003

	.macro number register, value
	movz \register, #((\value) & 0xffff)
	movk \register, #((\value) >> 16), lsl #16
	.endm

	/* 6 instructions, then 4 a round and 4 a read. */
	.macro read_all reads, stride, rounds
	number x3, (\rounds)
	number x4, (\stride)
	number x5, (\reads)
1:	movz x1, #(DATA >> 16), lsl #16
	mov x2, x5
2:	ldr w0, [x1]
	add x1, x1, x4
	subs x2, x2, #1
	b.ne 2b
	subs x3, x3, #1
	b.ne 1b
	.endm

	.macro read_at offset
	number x1, (DATA + (\offset))
	ldr w0, [x1]
	.endm

	.macro start_second_cpu
	number x0, PSCI_CPU_ON
	mov x1, #1
	adr x2, second_cpu
	mov x3, #0
	hvc #0
	adr x1, second_is_done
4:	ldr w0, [x1]
	cbz w0, 4b
	.endm

	.text
	.globl _start
_start:
#include "bare_cases.h"

	number x0, PSCI_SYSTEM_OFF
	hvc #0
3:	wfi
	b 3b

	/* 6 + 10 * (4 + 4 * 5) instructions and 4 more; 51 accesses. */
second_cpu:
	read_all 5, 64, 10
	adr x1, second_is_done
	mov w0, #1
	str w0, [x1]
	wfi
	b second_cpu

	.balign 4
second_is_done:
	.long 0
