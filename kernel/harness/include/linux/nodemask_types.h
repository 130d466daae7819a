/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HARNESS_LINUX_NODEMASK_TYPES_H
#define HARNESS_LINUX_NODEMASK_TYPES_H

typedef struct {
	unsigned long bits;
} nodemask_t;

#endif
