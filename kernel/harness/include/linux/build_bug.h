/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HARNESS_LINUX_BUILD_BUG_H
#define HARNESS_LINUX_BUILD_BUG_H

#define BUILD_BUG_ON(condition) _Static_assert(!(condition), #condition)

#endif
