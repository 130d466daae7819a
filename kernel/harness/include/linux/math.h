/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HARNESS_LINUX_MATH_H
#define HARNESS_LINUX_MATH_H

#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define ALIGN(n, size) (DIV_ROUND_UP(n, size) * (size))

#endif
