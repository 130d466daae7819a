/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HARNESS_LINUX_KERNEL_H
#define HARNESS_LINUX_KERNEL_H

#include <linux/limits.h>
#include <linux/minmax.h>

#endif
