/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Every call, with what it takes and with what it does not. Prints the layout of
 * the header's structures first; 77 where colors cannot be found on this machine.
 */
#include <huepage.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(that)                                                            \
	do {                                                                   \
		if (!(that)) {                                                 \
			fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, \
				#that, huepage_message());                     \
			exit(1);                                               \
		}                                                              \
	} while (0)

#define FAILS(call, code, text)                                                \
	do {                                                                   \
		CHECK((call) == (code));                                       \
		CHECK(strstr(huepage_message(), text));                        \
	} while (0)

static void layout(void)
{
	printf("options %zu %zu %zu %zu %zu %zu\n", sizeof(huepage_options),
	       offsetof(huepage_options, cpu), offsetof(huepage_options, colors_by),
	       offsetof(huepage_options, policy), offsetof(huepage_options, reserved),
	       offsetof(huepage_options, pool));
	printf("report %zu %zu %zu %zu\n", sizeof(huepage_report),
	       offsetof(huepage_report, placed), offsetof(huepage_report, short_of),
	       offsetof(huepage_report, other));
	fflush(stdout);
}

static void refused_before_anything_is_measured(void)
{
	huepage_options options = HUEPAGE_OPTIONS_INIT;
	huepage *cache = (huepage *)&options;
	void *memory;
	size_t pages;

	CHECK(!strcmp(huepage_message(), ""));
	FAILS(huepage_open(&options, NULL), HUEPAGE_E_ARGUMENT, "out is NULL");
	options.cpu = 1 << 20;
	FAILS(huepage_open(&options, &cache), HUEPAGE_E_ARGUMENT, "CPU 1048576 is not");
	CHECK(!cache);
	options.cpu = -1;
	options.size = 4;
	FAILS(huepage_open(&options, &cache), HUEPAGE_E_ARGUMENT, "HUEPAGE_OPTIONS_INIT");
	options.size = sizeof options;
	options.policy = 9;
	FAILS(huepage_open(&options, &cache), HUEPAGE_E_ARGUMENT, "no policy 9");
	options.policy = HUEPAGE_BALANCED;
	options.colors_by = 9;
	FAILS(huepage_open(&options, &cache), HUEPAGE_E_ARGUMENT, "no way 9");
	FAILS(huepage_alloc(NULL, 1, &memory), HUEPAGE_E_ARGUMENT, "the handle is NULL");
	FAILS(huepage_free(NULL, &options), HUEPAGE_E_ARGUMENT, "the handle is NULL");
	FAILS(huepage_reverify(NULL, &options, NULL), HUEPAGE_E_ARGUMENT, "handle");
	FAILS(huepage_split(NULL, NULL, 0, NULL), HUEPAGE_E_ARGUMENT, "handle");
	FAILS(huepage_colors_of(NULL, &options, 1, NULL, 0, &pages), HUEPAGE_E_ARGUMENT,
	      "handle");
	CHECK(huepage_free(NULL, NULL) == HUEPAGE_OK);
	CHECK(huepage_colors(NULL) == 0 && !strcmp(huepage_reason(NULL), ""));
	CHECK(strlen(huepage_version()) >= 5);
	huepage_close(NULL);
}

int main(void)
{
	huepage_options options = HUEPAGE_OPTIONS_INIT;
	huepage *cache;
	void *memory, *again;

	layout();
	refused_before_anything_is_measured();
	options.pool = 1 << 20;
	int code = huepage_open(&options, &cache);
	if (code) {
		fprintf(stderr, "%s\n", huepage_message());
		return code == HUEPAGE_E_UNSUPPORTED || code == HUEPAGE_E_UNTRUSTED ? 77 : 1;
	}
	uint32_t count = huepage_colors(cache);
	size_t page = sysconf(_SC_PAGESIZE), size = 3 * count * page / 2, pages;

	CHECK(count > 1 && strlen(huepage_reason(cache)) > 0);
	CHECK(huepage_alloc(cache, size, &memory) == HUEPAGE_OK);
	CHECK((uintptr_t)memory % page == 0);
	unsigned char *bytes = memory;
	for (size_t i = 0; i < size; i++)
		CHECK(bytes[i] == 0);
	memset(bytes, 7, size);

	/* What it is told to be it is measured to be, but for a page or two. */
	int32_t *colors = calloc(2 * count, sizeof *colors);
	CHECK(huepage_colors_of(cache, memory, size, colors, 2 * count, &pages) ==
	      HUEPAGE_OK);
	CHECK(pages == size / page);
	size_t wrong = 0;
	for (size_t i = 0; i < pages; i++)
		wrong += colors[i] != (int32_t)(((uintptr_t)memory / page + i) % count);
	CHECK(wrong <= 2 + pages / 10);

	huepage_report report;
	CHECK(huepage_reverify(cache, memory, &report) == HUEPAGE_OK);
	CHECK(report.already + report.placed + report.short_of + report.other == pages);
	CHECK(report.already + report.placed >= pages - pages / 10 - 2);
	for (size_t i = 0; i < size; i++)
		CHECK(bytes[i] == 7);

	/* A quarter of the cache. */
	uint32_t *part = calloc(count, sizeof *part), shares[] = { 1, 3 }, mine = 0;
	CHECK(huepage_split(cache, shares, 2, part) == HUEPAGE_OK);
	uint32_t *list = calloc(count, sizeof *list);
	for (uint32_t c = 0; c < count; c++)
		if (part[c] == 0)
			list[mine++] = c;
	CHECK(mine >= 1 && mine <= (count + 3) / 4);
	FAILS(huepage_split(cache, shares, 0, part), HUEPAGE_E_ARGUMENT, "share");
	CHECK(huepage_alloc_in(cache, mine * page, list, mine, &again) == HUEPAGE_OK);
	((char *)again)[0] = 1;
	FAILS(huepage_alloc_in(cache, page, &count, 1, &again), HUEPAGE_E_ARGUMENT,
	      "does not exist");
	CHECK(!again);

	FAILS(huepage_alloc(cache, 0, &again), HUEPAGE_E_ARGUMENT, "no bytes");
	FAILS(huepage_alloc(cache, (size_t)64 << 40, &again), HUEPAGE_E_MEMORY, "memory");
	FAILS(huepage_free(cache, bytes + page), HUEPAGE_E_ARGUMENT, "huepage_alloc");

	pid_t child = fork();
	if (child == 0)
		_exit(bytes[5] != 7 ||
		      huepage_alloc(cache, 1, &again) != HUEPAGE_E_PROCESS ||
		      huepage_free(cache, memory) != HUEPAGE_E_PROCESS);
	int status;
	CHECK(waitpid(child, &status, 0) == child && status == 0);

	CHECK(huepage_free(cache, memory) == HUEPAGE_OK);
	FAILS(huepage_free(cache, memory), HUEPAGE_E_ARGUMENT, "still in use");
	huepage_close(cache);
	return 0;
}
