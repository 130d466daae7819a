// SPDX-License-Identifier: GPL-2.0-only
/* The boot parameter page_color=, and the geometry that the kernel starts with. */

#define pr_fmt(fmt) "page_color: " fmt

#include <linux/init.h>
#include <linux/string.h>
#include "page_color.h"

static bool wanted __initdata;
static struct page_color_geometry given __initdata;

/* Without a size the cache is detected. */
static int __init parse_parameter(const char *text, const char **error)
{
	struct page_color_geometry geometry = { .ways = 1, .source = "boot" };
	int err;

	memset(&given, 0, sizeof(given));
	if (!strcmp(text, "auto"))
		return 0;
	if (str_has_prefix(text, "auto,")) {
		*error = "nothing comes after auto";
		return -EINVAL;
	}
	err = page_color_parse(text, &geometry, error);
	if (err)
		return err;
	if (!geometry.size) {
		*error = "neither auto, off nor a size";
		return -EINVAL;
	}
	given = geometry;
	return 0;
}

static int __init page_color_parameter(char *text)
{
	const char *error;

	wanted = false;
	if (!text || !strcmp(text, "off"))
		return 0;
	if (parse_parameter(text, &error)) {
		pr_warn("page_color=%s: %s; coloring stays off\n", text, error);
		return 0;
	}
	wanted = true;
	return 0;
}
early_param("page_color", page_color_parameter);

static int __init start_geometry(void)
{
	const char *error;
	int err;

	if (!given.size)
		return page_color_detect_all();
	err = page_color_use_geometry(&given, &error);
	if (err != -EINVAL)
		return err;
	pr_warn("page_color= of %lu KiB, %u ways: %s; coloring stays off\n",
		given.size >> 10, given.ways, error);
	/*
	 * Coloring can still be enabled later, by the geometry that sysfs shows.
	 */
	page_color_detect_all();
	return err;
}

/* Late: when cacheinfo and memory-side caches are known. */
static int __init page_color_start(void)
{
	int err = start_geometry();

	if (!wanted)
		return 0;
	if (!err)
		err = page_color_enable(true);
	if (!err)
		pr_info("enabled\n");
	else if (err != -EINVAL)
		pr_warn("not enabled: error %d\n", err);
	return 0;
}
late_initcall(page_color_start);
