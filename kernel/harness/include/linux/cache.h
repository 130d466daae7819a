/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HARNESS_LINUX_CACHE_H
#define HARNESS_LINUX_CACHE_H

#define ____cacheline_aligned __attribute__((aligned(64)))

#endif
