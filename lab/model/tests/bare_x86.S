/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest without an operating system, so that every instruction and access is
 * known. 32-bit protected mode without paging: addresses are physical. QEMU
 * loads it as a multiboot kernel; it ends QEMU through isa-debug-exit.
 */
#include "../../guest/region.h"

#define MULTIBOOT_MAGIC 0x1badb002
#define MULTIBOOT_FLAGS 0
#define DATA 0x800000
#define EXIT_PORT 0x501

	/* 1 instruction, then 4 a round and 4 a read. */
	.macro read_all reads, stride, rounds
	movl $(\rounds), %ecx
1:	movl $DATA, %esi
	movl $(\reads), %edx
2:	movl (%esi), %eax
	addl $(\stride), %esi
	subl $1, %edx
	jnz 2b
	subl $1, %ecx
	jnz 1b
	.endm

	.macro read_at offset
	movl DATA + (\offset), %eax
	.endm

	.text
	.align 4
	.long MULTIBOOT_MAGIC
	.long MULTIBOOT_FLAGS
	.long -(MULTIBOOT_MAGIC + MULTIBOOT_FLAGS)

	.globl _start
_start:
#include "bare_cases.h"

	movl $0, %eax
	movw $EXIT_PORT, %dx
	outb %al, %dx
3:	hlt
	jmp 3b
