// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool refuse(struct reader *reader, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reader->error, reader->error_size, format, arguments);
	va_end(arguments);
	return false;
}

bool take(struct reader *reader, const char *separator, const char *what, char **field)
{
	*field = strsep(&reader->rest, separator);
	return *field || refuse(reader, "%s is missing", what);
}

bool parse_number(struct reader *reader, const char *text, const char *what, uint64_t most,
			 uint64_t *number)
{
	bool hexadecimal = !strncmp(text, "0x", 2);
	const char *digits = hexadecimal ? text + 2 : text;
	char *end;

	/* strtoull by itself would take a sign or spaces. */
	if (!*digits ||
	    strspn(digits, hexadecimal ? "0123456789abcdefABCDEF" : "0123456789") !=
		    strlen(digits))
		return refuse(reader, "%s '%s' is no number", what, text);
	errno = 0;
	*number = strtoull(digits, &end, hexadecimal ? 16 : 10);
	if (errno || *number > most)
		return refuse(reader, "%s %s is too large: at most %llu", what, text,
			      (unsigned long long)most);
	return true;
}

bool take_number(struct reader *reader, const char *what, uint64_t most, uint64_t *number)
{
	char *field;

	return take(reader, ":", what, &field) && parse_number(reader, field, what, most, number);
}

bool take_choice(struct reader *reader, const char *what, const char *const *names,
			unsigned int *choice)
{
	char *field;

	if (!take(reader, ":", what, &field))
		return false;
	for (*choice = 0; names[*choice]; ++*choice)
		if (!strcmp(field, names[*choice]))
			return true;
	return refuse(reader, "%s '%s' is unknown", what, field);
}

bool parse_range(struct reader *reader, char *text, struct range *range)
{
	char *start = strsep(&text, "-");

	if (!text)
		return refuse(reader, "'%s' is no range START-END", start);
	if (!parse_number(reader, start, "start", UINT64_MAX, &range->start) ||
	    !parse_number(reader, text, "end", UINT64_MAX, &range->end))
		return false;
	return range->start < range->end || refuse(reader, "range %s-%s is empty", start, text);
}

size_t count_fields(const char *list)
{
	size_t count = *list != '\0';

	for (; *list; list++)
		count += *list == '+';
	return count;
}

bool parse_list(struct reader *reader, char *list, const char *what, uint32_t **numbers,
		size_t *count)
{
	size_t length = count_fields(list);
	uint64_t number;

	*numbers = calloc(length + 1, sizeof(**numbers));
	if (!*numbers)
		return refuse(reader, "not enough memory");
	for (*count = 0; *count < length; ++*count) {
		if (!parse_number(reader, strsep(&list, "+"), what, UINT32_MAX, &number))
			return false;
		(*numbers)[*count] = number;
	}
	return true;
}
