// SPDX-License-Identifier: GPL-2.0-or-later
#include "frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_COUNT (UINT64_C(1) << 16)

void frames_init(struct frames *frames, size_t caches)
{
	*frames = (struct frames){ .caches = caches };
}

static size_t columns(const struct frames *frames)
{
	return frames->caches + 1;
}

static bool grow(struct frames *frames, uint64_t frame)
{
	size_t count = frames->count ? frames->count : FIRST_COUNT;
	size_t size = columns(frames) * sizeof(*frames->counts);
	uint64_t *counts;

	while (count <= frame)
		count *= 2;
	counts = realloc(frames->counts, count * size);
	if (!counts)
		return false;
	memset(counts + frames->count * columns(frames), 0, (count - frames->count) * size);
	frames->counts = counts;
	frames->count = count;
	return true;
}

static void add(struct frames *frames, uint64_t frame, size_t column)
{
	if (frame >= frames->count && (frame >= FRAMES_END || !grow(frames, frame))) {
		frames->incomplete = true;
		return;
	}
	frames->counts[frame * columns(frames) + column]++;
}

void frames_access(struct frames *frames, uint64_t frame)
{
	add(frames, frame, 0);
}

void frames_miss(struct frames *frames, uint64_t frame, size_t cache)
{
	add(frames, frame, 1 + cache);
}

void frames_print(const struct frames *frames, FILE *out)
{
	const char *comma = "";

	fputs("{\"frames\":[", out);
	for (size_t frame = 0; frame < frames->count; frame++) {
		const uint64_t *counts = &frames->counts[frame * columns(frames)];
		uint64_t any = 0;

		for (size_t i = 0; i < columns(frames); i++)
			any |= counts[i];
		if (!any)
			continue;
		fprintf(out, "%s[%zu", comma, frame);
		for (size_t i = 0; i < columns(frames); i++)
			fprintf(out, ",%" PRIu64, counts[i]);
		fputc(']', out);
		comma = ",";
	}
	fputs("]}\n", out);
}
