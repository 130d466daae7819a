/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernel's mm/internal.h, which space.c includes: nothing of it is needed. */
