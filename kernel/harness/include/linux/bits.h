/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HARNESS_LINUX_BITS_H
#define HARNESS_LINUX_BITS_H

#define BIT(nr) (1UL << (nr))

#endif
