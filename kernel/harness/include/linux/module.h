/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the index's tests need of the kernel's <linux/module.h>: nothing. */
#ifndef HARNESS_LINUX_MODULE_H
#define HARNESS_LINUX_MODULE_H

#define MODULE_DESCRIPTION(text) _Static_assert(sizeof(text) > 1, "")
#define MODULE_LICENSE(text) _Static_assert(sizeof(text) > 1, "")

#endif
