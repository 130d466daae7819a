/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the value of an option, field by field, and reports errors. */
#ifndef READER_H
#define READER_H

#include "description.h"

struct reader {
	char *rest; /* NULL once the last field was taken */
	char *error;
	size_t error_size;
};

/* Always false, so that it can be returned. */
__attribute__((format(printf, 2, 3))) bool refuse(struct reader *reader, const char *format, ...);

/* "what" is the name of the field in errors. */
bool take(struct reader *reader, const char *separator, const char *what, char **field);
bool take_number(struct reader *reader, const char *what, uint64_t most, uint64_t *number);

/* The index in names, which end with NULL. */
bool take_choice(struct reader *reader, const char *what, const char *const *names,
		 unsigned int *choice);

bool parse_number(struct reader *reader, const char *text, const char *what, uint64_t most,
		  uint64_t *number);

/* START-END */
bool parse_range(struct reader *reader, char *text, struct range *range);

/* Fields with '+' between them; none in an empty list. */
size_t count_fields(const char *list);
bool parse_list(struct reader *reader, char *list, const char *what, uint32_t **numbers,
		size_t *count);

#endif
