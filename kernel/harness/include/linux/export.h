/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HARNESS_LINUX_EXPORT_H
#define HARNESS_LINUX_EXPORT_H

#define EXPORT_SYMBOL_GPL(symbol)

#endif
