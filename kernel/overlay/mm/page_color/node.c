// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/devices/system/node/nodeN/page_color: the geometry of one node. The files
 * come and go with the device of the node, as one of its groups.
 */

#include <linux/device.h>
#include <linux/mutex.h>
#include <linux/page_color.h>
#include <linux/sysfs.h>
#include "page_color.h"

static ssize_t show(struct device *dev, char *buf, page_color_text_fn text)
{
	char value[PAGE_COLOR_TEXT];

	mutex_lock(&page_color_mutex);
	text(value, &page_color_geometries[dev->id]);
	mutex_unlock(&page_color_mutex);
	return sysfs_emit(buf, "%s\n", value);
}

static ssize_t cache_size_show(struct device *dev,
			       struct device_attribute *attr, char *buf)
{
	return show(dev, buf, page_color_size_text);
}

static ssize_t ways_show(struct device *dev, struct device_attribute *attr,
			 char *buf)
{
	return show(dev, buf, page_color_ways_text);
}

static ssize_t colors_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	return show(dev, buf, page_color_colors_text);
}

static ssize_t source_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	return show(dev, buf, page_color_source_text);
}

static DEVICE_ATTR_RO(cache_size);
static DEVICE_ATTR_RO(ways);
static DEVICE_ATTR_RO(colors);
static DEVICE_ATTR_RO(source);

static struct attribute *page_color_node_attrs[] = {
	&dev_attr_cache_size.attr,
	&dev_attr_ways.attr,
	&dev_attr_colors.attr,
	&dev_attr_source.attr,
	NULL,
};

const struct attribute_group page_color_node_group = {
	.name = "page_color",
	.attrs = page_color_node_attrs,
};
