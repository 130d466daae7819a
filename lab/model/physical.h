/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest-physical addresses of accesses.
 *
 * Older QEMU, Debian's 7.2 among them, reports an offset into its own list of
 * memory blocks, which is no physical address as soon as there are several
 * blocks (NUMA nodes of their own) or a hole (x86 with more than 2 GiB). There,
 * the first access to each MiB asks QEMU to walk the guest's page tables, and
 * what was reported too low or too high by is remembered for that MiB.
 */
#ifndef PHYSICAL_H
#define PHYSICAL_H

#include "qemu_api.h"

/*
 * False, with the reason, if this QEMU gives no way to find physical addresses.
 */
bool physical_init(const qemu_info_t *info);

/* False if the address is not memory but a device's. */
bool physical_address(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t virtual_address,
		      uint64_t *physical);

#endif
