/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KSM_DOMAINS_PARTITION_H
#define _KSM_DOMAINS_PARTITION_H

#include <linux/types.h>

void ksm_partition(u8 *distance, unsigned int nr, unsigned int limit,
		   unsigned short *lowest);
unsigned int ksm_largest_within(const u8 *distance, unsigned int nr,
				unsigned int limit);
unsigned int ksm_near(const u8 *distance, unsigned int nr, unsigned int local);

#endif
