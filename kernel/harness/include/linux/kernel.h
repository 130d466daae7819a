/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HARNESS_LINUX_KERNEL_H
#define HARNESS_LINUX_KERNEL_H

#include <linux/limits.h>
#include <linux/math.h>
#include <linux/minmax.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif
