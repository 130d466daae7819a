// SPDX-License-Identifier: GPL-2.0-only
/* /sys/kernel/mm/page_color: geometry, and whether coloring is enabled. */

#define pr_fmt(fmt) "page_color: " fmt

#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/kobject.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include "page_color.h"

int page_color_use_geometry(struct page_color_geometry *geometry,
			    const char **error)
{
	int nid, err;

	err = page_color_check_geometry(geometry, error);
	if (err)
		return err;
	err = -EINVAL;
	for_each_node_state(nid, N_MEMORY)
		if (!page_color_check_node(nid, geometry, error))
			err = 0;
	if (!err)
		err = page_color_set_geometry(geometry);
	if (err)
		return err;
	pr_info("%s: %lu KiB, %u ways, %lu colors\n", geometry->source,
		geometry->size >> 10, geometry->ways, geometry->colors);
	page_color_cpusets_update();
	return 0;
}

int page_color_detect_all(void)
{
	int err;

	cpus_read_lock();
	err = page_color_detect_geometry();
	cpus_read_unlock();
	page_color_cpusets_update();
	return err;
}

static ssize_t refuse(const char *file, const char *text, const char *error)
{
	pr_warn("%s: '%.*s': %s\n", file,
		min_t(int, strcspn(text, "\n"), 64), text, error);
	return -EINVAL;
}

static ssize_t enabled_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%d\n", page_color_enabled());
}

static ssize_t enabled_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	bool enable;
	int err;

	if (kstrtobool(buf, &enable))
		return -EINVAL;
	err = page_color_enable(enable);
	return err ?: count;
}

/* One value of a geometry, as the files here and those of the nodes show it. */
void page_color_size_text(char *text, const struct page_color_geometry *geometry)
{
	snprintf(text, PAGE_COLOR_TEXT, "%luK", geometry->size >> 10);
}

void page_color_ways_text(char *text, const struct page_color_geometry *geometry)
{
	snprintf(text, PAGE_COLOR_TEXT, "%u", geometry->ways);
}

void page_color_colors_text(char *text,
			    const struct page_color_geometry *geometry)
{
	snprintf(text, PAGE_COLOR_TEXT, "%lu", geometry->colors);
}

void page_color_source_text(char *text,
			    const struct page_color_geometry *geometry)
{
	strscpy(text, geometry->size ? geometry->source : "none",
		PAGE_COLOR_TEXT);
}

/* The value that all nodes with memory have, or "mixed". */
static ssize_t emit(char *buf, page_color_text_fn text)
{
	char value[PAGE_COLOR_TEXT], other[PAGE_COLOR_TEXT];
	int nid;

	mutex_lock(&page_color_mutex);
	text(value, &page_color_geometries[first_memory_node]);
	for_each_node_state(nid, N_MEMORY) {
		text(other, &page_color_geometries[nid]);
		if (strcmp(value, other)) {
			strscpy(value, "mixed");
			break;
		}
	}
	mutex_unlock(&page_color_mutex);
	return sysfs_emit(buf, "%s\n", value);
}

static ssize_t cache_size_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *buf)
{
	return emit(buf, page_color_size_text);
}

static ssize_t use(const char *file, const char *text,
		   struct page_color_geometry *geometry, size_t count)
{
	const char *error;
	int err;

	strscpy(geometry->source, "sysfs");
	err = page_color_use_geometry(geometry, &error);
	if (err == -EINVAL)
		return refuse(file, text, error);
	return err ?: count;
}

/* The geometry that a write changes in part: the one with the most colors. */
static void current_geometry(struct page_color_geometry *geometry)
{
	const struct page_color_geometry *one;
	int nid;

	memset(geometry, 0, sizeof(*geometry));
	mutex_lock(&page_color_mutex);
	for_each_node_state(nid, N_MEMORY) {
		one = &page_color_geometries[nid];
		if (one->colors > geometry->colors)
			*geometry = *one;
	}
	mutex_unlock(&page_color_mutex);
	geometry->ways = max(geometry->ways, 1u);
}

static ssize_t cache_size_store(struct kobject *kobj,
				struct kobj_attribute *attr, const char *buf,
				size_t count)
{
	struct page_color_geometry geometry;
	const char *error;
	int err;

	if (page_color_enabled())
		return -EBUSY;
	if (sysfs_streq(buf, "auto")) {
		err = page_color_detect_all();
		return err ?: count;
	}
	current_geometry(&geometry);
	geometry.size = 0;
	if (page_color_parse(buf, &geometry, &error))
		return refuse("cache_size", buf, error);
	return use("cache_size", buf, &geometry, count);
}

static ssize_t ways_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *buf)
{
	return emit(buf, page_color_ways_text);
}

static ssize_t ways_store(struct kobject *kobj, struct kobj_attribute *attr,
			  const char *buf, size_t count)
{
	struct page_color_geometry geometry;

	if (page_color_enabled())
		return -EBUSY;
	current_geometry(&geometry);
	if (kstrtouint(buf, 10, &geometry.ways))
		return refuse("ways", buf, "not a number");
	return use("ways", buf, &geometry, count);
}

static ssize_t colors_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return emit(buf, page_color_colors_text);
}

static ssize_t source_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return emit(buf, page_color_source_text);
}

static struct kobj_attribute enabled_attr = __ATTR_RW(enabled);
static struct kobj_attribute cache_size_attr = __ATTR_RW(cache_size);
static struct kobj_attribute ways_attr = __ATTR_RW(ways);
static struct kobj_attribute colors_attr = __ATTR_RO(colors);
static struct kobj_attribute source_attr = __ATTR_RO(source);

static struct attribute *page_color_attrs[] = {
	&enabled_attr.attr,
	&cache_size_attr.attr,
	&ways_attr.attr,
	&colors_attr.attr,
	&source_attr.attr,
	NULL,
};

static const struct attribute_group page_color_group = {
	.name = "page_color",
	.attrs = page_color_attrs,
};

static int __init page_color_sysfs(void)
{
	return sysfs_create_group(mm_kobj, &page_color_group);
}
subsys_initcall(page_color_sysfs);
