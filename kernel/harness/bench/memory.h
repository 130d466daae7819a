/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Memory as a kernel has it: zeroed, mapped by huge pages. */
#ifndef HARNESS_BENCH_MEMORY_H
#define HARNESS_BENCH_MEMORY_H

#include <stddef.h>

void *memory_get(size_t bytes);
void memory_put(void *memory, size_t bytes);

#endif
