/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often the instruction at each address was executed in a region, on all CPUs: with
 * the kernel's symbols this shows how many instructions each function took.
 */
#ifndef ADDRESSES_H
#define ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct addresses {
	void *tree;	 /* of struct executed, by address */
	bool incomplete; /* memory ran out */
};

/* The counter of executions of the instruction at an address, which stays; or NULL. */
uint64_t *addresses_count_of(struct addresses *addresses, uint64_t address);

/* Forgets all counts. */
void addresses_clear(struct addresses *addresses);

/* A line of JSON: {"addresses":[[address,executions],…]}, ascending. */
void addresses_print(const struct addresses *addresses, FILE *out);

#endif
