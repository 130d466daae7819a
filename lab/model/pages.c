// SPDX-License-Identifier: GPL-2.0-or-later
#include "pages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOT_COUNT 1024

bool pages_init(struct pages *pages)
{
	*pages = (struct pages){ .slot_count = FIRST_SLOT_COUNT };
	pages->slots = calloc(pages->slot_count, sizeof(*pages->slots));
	return pages->slots;
}

void pages_clear(struct pages *pages)
{
	memset(pages->slots, 0, pages->slot_count * sizeof(*pages->slots));
	pages->page_count = 0;
	pages->accesses = 0;
	pages->cycles = 0;
	pages->squares = 0;
	pages->incomplete = false;
}

static struct page_time *find_slot(struct page_time *slots, size_t slot_count, uint64_t page)
{
	size_t mask = slot_count - 1;
	size_t slot = (page * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

	while (slots[slot].page_plus_1 && slots[slot].page_plus_1 != page + 1)
		slot = (slot + 1) & mask;
	return &slots[slot];
}

static bool grow(struct pages *pages)
{
	size_t slot_count = 2 * pages->slot_count;
	struct page_time *slots = calloc(slot_count, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < pages->slot_count; i++) {
		const struct page_time *old = &pages->slots[i];

		if (old->page_plus_1)
			*find_slot(slots, slot_count, old->page_plus_1 - 1) = *old;
	}
	free(pages->slots);
	pages->slots = slots;
	pages->slot_count = slot_count;
	return true;
}

void pages_add(struct pages *pages, uint64_t page, uint32_t cycles)
{
	struct page_time *slot = find_slot(pages->slots, pages->slot_count, page);

	if (!slot->page_plus_1) {
		if (2 * pages->page_count >= pages->slot_count) {
			if (!grow(pages)) {
				pages->incomplete = true;
				return;
			}
			slot = find_slot(pages->slots, pages->slot_count, page);
		}
		slot->page_plus_1 = page + 1;
		pages->page_count++;
	}
	slot->accesses++;
	slot->cycles += cycles;
	pages->accesses++;
	pages->cycles += cycles;
	pages->squares += (uint64_t)cycles * cycles;
}

static double page_mean(const struct page_time *page)
{
	return (double)page->cycles / (double)page->accesses;
}

struct page_times pages_summary(const struct pages *pages)
{
	struct page_times times = { .pages = pages->page_count };
	double sum = 0, squares = 0;

	if (!pages->page_count)
		return times;
	for (size_t i = 0; i < pages->slot_count; i++)
		if (pages->slots[i].page_plus_1)
			sum += page_mean(&pages->slots[i]);
	times.mean = sum / (double)pages->page_count;
	for (size_t i = 0; i < pages->slot_count; i++) {
		if (pages->slots[i].page_plus_1) {
			double off = page_mean(&pages->slots[i]) - times.mean;

			squares += off * off;
		}
	}
	times.deviation = sqrt(squares / (double)pages->page_count);

	/* n² times the variance is a whole number: no digits are lost. */
	unsigned __int128 spread = pages->squares * pages->accesses -
				   (unsigned __int128)pages->cycles * pages->cycles;

	times.access_mean = (double)pages->cycles / (double)pages->accesses;
	times.access_deviation = sqrt((double)spread) / (double)pages->accesses;
	return times;
}
