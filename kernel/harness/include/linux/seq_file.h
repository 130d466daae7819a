/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HARNESS_LINUX_SEQ_FILE_H
#define HARNESS_LINUX_SEQ_FILE_H

#include <stdbool.h>

/* Not defined: nothing is shown here. */
struct seq_file;
bool seq_has_overflowed(struct seq_file *m);
void seq_printf(struct seq_file *m, const char *format, ...);
void seq_putc(struct seq_file *m, char c);

#endif
