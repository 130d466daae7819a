/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HARNESS_LINUX_PREEMPT_H
#define HARNESS_LINUX_PREEMPT_H

#define in_task() true

#endif
