/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernel's mm/internal.h, which space.c and unmap.c include: nothing of it is needed. */
