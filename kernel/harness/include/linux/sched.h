/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HARNESS_LINUX_SCHED_H
#define HARNESS_LINUX_SCHED_H

#define cond_resched() ((void)0)

#endif
