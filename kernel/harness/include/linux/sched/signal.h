/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HARNESS_LINUX_SCHED_SIGNAL_H
#define HARNESS_LINUX_SCHED_SIGNAL_H

#define fatal_signal_pending(task) false

#endif
