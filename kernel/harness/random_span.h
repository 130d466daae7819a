/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Spans of all kinds. */
#ifndef HARNESS_RANDOM_SPAN_H
#define HARNESS_RANDOM_SPAN_H

#include "index.h"
#include "numbers.h"

struct page_color_span random_span(struct numbers *numbers);

#endif
