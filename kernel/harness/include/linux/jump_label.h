/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Static keys as variables. */
#ifndef HARNESS_LINUX_JUMP_LABEL_H
#define HARNESS_LINUX_JUMP_LABEL_H

#include <linux/types.h>

struct static_key {
	bool on;
};

#define DECLARE_STATIC_KEY_FALSE(name) extern struct static_key name
#define DEFINE_STATIC_KEY_FALSE(name) struct static_key name
#define static_key_enabled(key) ((key)->on)
#define static_branch_unlikely(key) ((key)->on)
#define static_branch_enable(key) ((void)((key)->on = true))

#endif
