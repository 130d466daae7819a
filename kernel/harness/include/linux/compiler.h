/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reads and writes that are not torn; here there is one thread. */
#ifndef HARNESS_LINUX_COMPILER_H
#define HARNESS_LINUX_COMPILER_H

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define noinline __attribute__((noinline))

#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile __typeof__(x) *)&(x) = (value))

#endif
