/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The description of a hierarchy as options, numbers being decimal or 0x…:
 *
 *   out=FILE                  where records go
 *   level0=SIZE:WAYS:LINE:lru|tree-plru|random|qlru:private|shared:CYCLES
 *   memside0=SIZE:WAYS:LINE:all|nodeN|START-END:CYCLES
 *   node0=START-END+…:CPU+…   memory and CPUs of a node, either may be empty
 *   distance0=10+20+…         from node 0 to each node; all nodes or none
 *   memory=CYCLES             memory at distance 10
 *   outside=model|skip        what is done outside regions of interest
 *   seed=N                    of random replacement
 *   colors=on|off             misses by color
 *   pages=on|off              access times by page
 *   frames=on|off             accesses and misses by page frame, over all regions
 *   addresses=on|off          executions by address of the instruction, by region
 *   pairs=on|off              a line that the last level lacks brings the other line
 *                             of its pair of lines along: hierarchy.h
 *   strings=on|off            count each repetition of an x86 string instruction
 *                             (on), or none of them
 *
 * level1, memside1 and so on follow in order, without gaps.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "description.h"

/* Adds one option. False, with the reason, if it is not valid. */
bool options_add(struct description *description, const char *option, char *error,
		 size_t error_size);

/* Whether the options go together, once all are added. */
bool options_check(const struct description *description, char *error, size_t error_size);

#endif
