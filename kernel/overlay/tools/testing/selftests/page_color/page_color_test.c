// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page coloring as programs see it: what its files show, take and refuse, and the
 * colors of the pages that a program gets. Needs root, to write to sysfs and to
 * learn frame numbers.
 *
 * See Documentation/admin-guide/mm/page_color.rst.
 */
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include "../kselftest_harness.h"

#define SYSFS "/sys/kernel/mm/page_color/"
#define TRACEFS "/sys/kernel/tracing"
#define NODE "/sys/devices/system/node/node0/page_color/"
#define SELF "/proc/self/page_colors"

/* Direct-mapped, whatever the page size is. */
#define COLORS 1024
#define PAGES (4 * COLORS)
/* Pages of the area of which half are freed, chosen at random. */
#define AREA (8 * PAGES)

/*
 * Colors that come in turn are used equally often, but for pages that others
 * take in between. Of colors that come by chance, one has six pages more than the
 * mean, or more, and another one none.
 */
#define SPREAD 4

static size_t page_size;

/* The first line, without its end; or the error. */
static const char *line_of(const char *path)
{
	static char line[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);

	if (got < 0)
		snprintf(line, sizeof(line), "error: %s", strerror(errno));
	else
		line[got] = '\0';
	if (fd >= 0)
		close(fd);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

/* A copy: the next line overwrites the buffer. */
static void copy_line(char *to, size_t size, const char *path)
{
	snprintf(to, size, "%s", line_of(path));
}

/* 0, or the error number. */
static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err = errno;
	close(fd);
	return err;
}

/* A number after a word, summed over the lines that have it. */
static unsigned long statistic(const char *path, const char *wanted)
{
	FILE *file = fopen(path, "re");
	char line[256], name[64];
	unsigned long sum = 0, value;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, " %63s %lu", name, &value) == 2 && !strcmp(name, wanted))
			sum += value;
	if (file)
		fclose(file);
	return sum;
}

static char *map_pages(size_t pages)
{
	char *memory = mmap(NULL, pages * page_size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, pages * page_size, MADV_NOHUGEPAGE);
	return memory;
}

static void touch(char *memory, size_t pages)
{
	size_t i;

	for (i = 0; i < pages; i++)
		memory[i * page_size] = 1;
}

/* 0 for pages that are not present; false if frame numbers cannot be read. */
static bool frames_of(const char *memory, size_t pages, uint64_t *frames)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0;
	uint64_t entry;
	size_t i;

	for (i = 0; good && i < pages; i++) {
		off_t at = ((uintptr_t)memory / page_size + i) * sizeof(entry);

		good = pread(fd, &entry, sizeof(entry), at) == sizeof(entry);
		frames[i] = entry >> 63 ? (entry << 9) >> 9 : 0;
	}
	if (fd >= 0)
		close(fd);
	return good;
}

/* Colors of pages; false if one is not present, or cannot be read. */
static bool colors_of(const char *memory, size_t pages, unsigned int *colors)
{
	uint64_t *frames = calloc(pages, sizeof(*frames));
	bool good = frames && frames_of(memory, pages, frames);
	size_t i;

	for (i = 0; good && i < pages; i++) {
		good = frames[i];
		colors[i] = frames[i] % COLORS;
	}
	free(frames);
	return good;
}

/* How many more pages the most frequent color has than the rarest. */
static unsigned int spread(const unsigned int *colors, size_t pages)
{
	unsigned int counts[COLORS] = { 0 }, low = UINT_MAX, high = 0;
	size_t i;

	for (i = 0; i < pages; i++)
		counts[colors[i]]++;
	for (i = 0; i < COLORS; i++) {
		low = counts[i] < low ? counts[i] : low;
		high = counts[i] > high ? counts[i] : high;
	}
	return high - low;
}

/* How often a page has the color that follows that of the page before. */
static size_t in_turn(const unsigned int *colors, size_t pages)
{
	size_t found = 0, i;

	for (i = 1; i < pages; i++)
		found += colors[i] == (colors[i - 1] + 1) % COLORS;
	return found;
}

/*
 * Frees half of the pages of a large area in random order, so that the free lists begin
 * with single pages of all colors, as on a machine that has been used.
 */
static char *shuffle_free_pages(void)
{
	const size_t pages = AREA;
	char *memory = map_pages(pages);
	uint32_t *order = calloc(pages, sizeof(*order));
	size_t i;

	if (!memory || !order)
		return NULL;
	touch(memory, pages);
	srandom(1);
	for (i = 0; i < pages; i++) {
		size_t j = random() % (i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	for (i = 0; i < pages / 2; i++)
		madvise(memory + order[i] * page_size, page_size, MADV_DONTNEED);
	free(order);
	return memory;
}

/*
 * The same in a child, which keeps the other half: the caller remains small. 0: failed.
 */
static pid_t shuffle_beside(void)
{
	int ready[2];
	char done = 0;
	pid_t child;

	if (pipe(ready))
		return 0;
	child = fork();
	if (!child) {
		done = !!shuffle_free_pages();
		if (write(ready[1], &done, 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	if (child > 0 && (read(ready[0], &done, 1) != 1 || !done)) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	close(ready[0]);
	return done ? child : 0;
}

static const char files[][40] = {
	SYSFS "cache_size", SYSFS "ways", SYSFS "enabled"
};

/* The settings of coloring before a test, to restore them. */
struct state {
	bool enabled;
	char geometry[1024];
};

static void remember(struct state *state)
{
	char size[256];

	state->enabled = !strcmp(line_of(SYSFS "enabled"), "1");
	/* A geometry that was detected, or differs between nodes, is detected again. */
	copy_line(state->geometry, sizeof(state->geometry), SYSFS "source");
	if (!strcmp(state->geometry, "sysfs") || !strcmp(state->geometry, "boot")) {
		copy_line(size, sizeof(size), SYSFS "cache_size");
		snprintf(state->geometry, sizeof(state->geometry), "%s,ways=%.255s", size,
			 line_of(SYSFS "ways"));
	} else {
		snprintf(state->geometry, sizeof(state->geometry), "auto");
	}
}

/* 0, or the error number. */
static int put_back(const struct state *state)
{
	int err = put(SYSFS "enabled", "0");

	if (err)
		return err;
	err = put(SYSFS "cache_size", state->geometry);
	/* Without a cache to color for, none can be detected. */
	if (err == ENODEV && !state->enabled)
		return 0;
	if (!err && state->enabled)
		err = put(SYSFS "enabled", "1");
	return err;
}

FIXTURE(page_color) {
	char before[ARRAY_SIZE(files)][256];
	struct state state;
	unsigned int colors[PAGES];
};

FIXTURE_SETUP(page_color)
{
	char text[256];
	cpu_set_t cpu;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++)
		copy_line(self->before[i], sizeof(self->before[i]), files[i]);
	remember(&self->state);

	/* Stay on one CPU, on which colors come in turn. */
	CPU_ZERO(&cpu);
	CPU_SET(sched_getcpu(), &cpu);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(cpu), &cpu));

	snprintf(text, sizeof(text), "%zuK,ways=1", COLORS * page_size >> 10);
	ASSERT_EQ(0, put(SYSFS "enabled", "0"));
	ASSERT_EQ(0, put(SYSFS "cache_size", text));
	ASSERT_STREQ("1024", line_of(SYSFS "colors"));
}

FIXTURE_TEARDOWN(page_color)
{
	size_t i;

	EXPECT_EQ(0, put_back(&self->state));
	for (i = 0; i < ARRAY_SIZE(files); i++)
		EXPECT_STREQ(self->before[i], line_of(files[i]));
}

TEST_F(page_color, files_show_what_was_written)
{
	EXPECT_STREQ("0", line_of(SYSFS "enabled"));
	EXPECT_STREQ("enabled 0", line_of("/proc/page_color"));
	EXPECT_STREQ("sysfs", line_of(SYSFS "source"));
	EXPECT_EQ(0, put(SYSFS "cache_size", "3072,ways=12\n"));
	EXPECT_STREQ("3072K", line_of(SYSFS "cache_size"));
	EXPECT_STREQ("12", line_of(SYSFS "ways"));
	/* A size alone keeps the ways. */
	EXPECT_EQ(0, put(SYSFS "cache_size", "6M"));
	EXPECT_STREQ("6144K", line_of(SYSFS "cache_size"));
	EXPECT_STREQ("12", line_of(SYSFS "ways"));
	EXPECT_EQ(0, put(SYSFS "ways", "6"));
	EXPECT_STREQ("6", line_of(SYSFS "ways"));
	EXPECT_EQ(EACCES, access(SYSFS "colors", W_OK) ? errno : put(SYSFS "colors", "1"));
}

TEST_F(page_color, nodes_show_their_own_values)
{
	if (access(NODE, F_OK))
		SKIP(return, "no nodes");
	EXPECT_STREQ("1024", line_of(NODE "colors"));
	EXPECT_STREQ("sysfs", line_of(NODE "source"));
	EXPECT_EQ(0, put(SYSFS "cache_size", "3072,ways=12"));
	EXPECT_STREQ("3072K", line_of(NODE "cache_size"));
	EXPECT_STREQ("12", line_of(NODE "ways"));
}

TEST_F(page_color, what_is_impossible_is_refused)
{
	static const char sizes[][24] = {
		"x", "0", "-1", "1M,ways=3", "1M,ways=0", "1M,policy=sequence", "1048576G"
	};
	char before[64];
	size_t i;

	copy_line(before, sizeof(before), SYSFS "cache_size");
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		EXPECT_EQ(EINVAL, put(SYSFS "cache_size", sizes[i]))
			TH_LOG("cache_size %s", sizes[i]);
	EXPECT_EQ(EINVAL, put(SYSFS "ways", "0"));
	EXPECT_EQ(EINVAL, put(SYSFS "ways", "many"));
	EXPECT_EQ(EINVAL, put(SYSFS "enabled", "2"));
	EXPECT_STREQ(before, line_of(SYSFS "cache_size"));
	EXPECT_STREQ("1", line_of(SYSFS "ways"));
}

TEST_F(page_color, geometry_is_fixed_while_enabled)
{
	ASSERT_EQ(0, put(SYSFS "enabled", "1"));
	EXPECT_EQ(0, put(SYSFS "enabled", "1"));
	EXPECT_STREQ("1", line_of(SYSFS "enabled"));
	EXPECT_STREQ("enabled 1", line_of("/proc/page_color"));
	EXPECT_EQ(EBUSY, put(SYSFS "cache_size", "8M"));
	EXPECT_EQ(EBUSY, put(SYSFS "cache_size", "auto"));
	EXPECT_EQ(EBUSY, put(SYSFS "ways", "2"));
	EXPECT_STREQ("1024", line_of(SYSFS "colors"));
	EXPECT_LT(0, statistic("/proc/page_color", "colors"));
	ASSERT_EQ(0, put(SYSFS "enabled", "0"));
	EXPECT_STREQ("enabled 0", line_of("/proc/page_color"));
	EXPECT_EQ(0, statistic("/proc/page_color", "colors"));
	EXPECT_EQ(0, put(SYSFS "ways", "2"));
}

/* Shows that the tests after it measure something. */
TEST_F(page_color, without_it_colors_come_by_chance)
{
	char *memory;

	ASSERT_NE(NULL, shuffle_free_pages());
	memory = map_pages(PAGES);
	ASSERT_NE(NULL, memory);
	touch(memory, PAGES);
	ASSERT_TRUE(colors_of(memory, PAGES, self->colors));
	EXPECT_LT(SPREAD, spread(self->colors, PAGES));
	EXPECT_GT(PAGES / 4, in_turn(self->colors, PAGES));
}

TEST_F(page_color, a_large_program_has_each_color_as_often)
{
	/* A much larger program spares whole pageblocks instead. */
	const size_t pages = 7 * COLORS / 4;
	unsigned long before;
	char *memory;
	pid_t beside;

	beside = shuffle_beside();
	ASSERT_LT(0, beside);
	ASSERT_EQ(0, put(SYSFS "enabled", "1"));
	before = statistic("/proc/vmstat", "page_color_best") +
		 statistic("/proc/vmstat", "page_color_other");
	memory = map_pages(pages);
	ASSERT_NE(NULL, memory);
	touch(memory, pages);
	/* Some pages were taken before the program counted as large. */
	EXPECT_LE(pages * 3 / 4,
		  statistic("/proc/vmstat", "page_color_best") +
		  statistic("/proc/vmstat", "page_color_other") - before);
	ASSERT_TRUE(colors_of(memory, pages, self->colors));
	EXPECT_GE(SPREAD, spread(self->colors, pages));
	kill(beside, SIGKILL);
	EXPECT_EQ(beside, waitpid(beside, NULL, 0));
}

/* How many lines of a file have a text. */
static unsigned int lines_with(const char *path, const char *text)
{
	unsigned int count = 0;
	char line[512];
	FILE *file;

	file = fopen(path, "r");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		count += !!strstr(line, text);
	fclose(file);
	return count;
}

TEST_F(page_color, choices_can_be_traced)
{
	char *memory;

	mount("tracefs", TRACEFS, "tracefs", 0, NULL);
	if (access(TRACEFS "/events/page_color", F_OK))
		SKIP(return, "needs tracepoints (CONFIG_ENABLE_DEFAULT_TRACERS)");
	ASSERT_EQ(0, put(TRACEFS "/events/page_color/enable", "1"));
	ASSERT_EQ(0, put(SYSFS "enabled", "1"));
	memory = map_pages(PAGES);
	ASSERT_NE(NULL, memory);
	touch(memory, PAGES);
	EXPECT_EQ(0, put(TRACEFS "/events/page_color/enable", "0"));
	EXPECT_LT(0, lines_with(TRACEFS "/trace", "colors=lacked,few wished="));
}

/*
 * Exits with 0 if hardly any color has two pages after half of the pages were replaced.
 */
static void child_that_frees(unsigned int *colors)
{
	const size_t pages = COLORS - 64;
	unsigned int counts[COLORS] = { 0 }, twice = 0;
	char *memory = map_pages(pages);
	size_t i;

	if (!memory)
		_exit(1);
	touch(memory, pages);
	for (i = 0; i < pages; i++)
		if (random() % 2)
			madvise(memory + i * page_size, page_size, MADV_DONTNEED);
	touch(memory, pages);
	if (!colors_of(memory, pages, colors))
		_exit(2);
	for (i = 0; i < pages; i++)
		twice += counts[colors[i]]++ == 1;
	/* The first 16 pages are taken while it is small; random colors give 350. */
	_exit(twice > 32 ? 3 : 0);
}

TEST_F(page_color, freed_colors_come_back)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, put(SYSFS "enabled", "1"));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		child_that_frees(self->colors);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* The most pages that a color has, of those that are there. */
static unsigned int most(const uint64_t *frames, size_t pages)
{
	unsigned int counts[COLORS] = { 0 }, high = 0;
	size_t i;

	for (i = 0; i < pages; i++) {
		unsigned int color = frames[i] % COLORS;

		if (frames[i] && ++counts[color] > high)
			high = counts[color];
	}
	return high;
}

/* How many pages move when memory is compacted; SIZE_MAX on errors. */
static size_t compact(const char *memory, uint64_t *before, uint64_t *after)
{
	size_t moved = 0, i;

	if (!memory || !before || !after || !frames_of(memory, AREA, before) ||
	    put("/proc/sys/vm/compact_memory", "1") || !frames_of(memory, AREA, after))
		return SIZE_MAX;
	for (i = 0; i < AREA; i++)
		moved += before[i] && after[i] && before[i] != after[i];
	return moved;
}

/* Pages go to their own color, or to one that few hold: no color gets many more. */
TEST_F(page_color, compaction_does_not_crowd_colors)
{
	uint64_t *before, *after;
	size_t moved;

	if (access("/proc/sys/vm/compact_memory", W_OK))
		SKIP(return, "no compaction");
	before = calloc(AREA, sizeof(*before));
	after = calloc(AREA, sizeof(*after));
	ASSERT_EQ(0, put(SYSFS "enabled", "1"));
	moved = compact(shuffle_free_pages(), before, after);
	ASSERT_NE(SIZE_MAX, moved);
	TH_LOG("%zu pages moved", moved);
	EXPECT_GE(most(before, AREA) + 2, most(after, AREA));
	free(before);
	free(after);
}

/* If holders are not counted, a page without a frame of its color goes to any frame. */
TEST_F(page_color, compaction_goes_on_with_few_colors)
{
	uint64_t *before, *after;
	char text[256];
	size_t moved;

	if (access("/proc/sys/vm/compact_memory", W_OK))
		SKIP(return, "no compaction");
	before = calloc(AREA, sizeof(*before));
	after = calloc(AREA, sizeof(*after));
	snprintf(text, sizeof(text), "%zuK,ways=1", 16 * page_size >> 10);
	ASSERT_EQ(0, put(SYSFS "cache_size", text));
	ASSERT_EQ(0, put(SYSFS "enabled", "1"));
	moved = compact(shuffle_free_pages(), before, after);
	ASSERT_NE(SIZE_MAX, moved);
	TH_LOG("%zu pages moved", moved);
	EXPECT_LT(AREA / 16, moved);
	free(before);
	free(after);
}

TEST_F(page_color, a_task_gets_pages_of_its_set_only)
{
	size_t outside = 0, i;
	char *memory;

	ASSERT_NE(NULL, shuffle_free_pages());
	ASSERT_EQ(0, put(SYSFS "enabled", "1"));
	memory = map_pages(COLORS);
	ASSERT_NE(NULL, memory);
	ASSERT_EQ(0, put(SELF, "100,64-127,500-507\n"));
	EXPECT_STREQ("64-127,500-507", line_of(SELF));
	touch(memory, COLORS);
	ASSERT_EQ(0, put(SELF, "all"));
	EXPECT_STREQ("0-1023", line_of(SELF));
	ASSERT_TRUE(colors_of(memory, COLORS, self->colors));
	for (i = 0; i < COLORS; i++)
		outside += !(self->colors[i] >= 64 && self->colors[i] < 128) &&
			   !(self->colors[i] >= 500 && self->colors[i] < 508);
	EXPECT_EQ(0, outside);
}

/* Exits with 0 if its set is that of the parent, and can be changed. */
static void child_of_set(void)
{
	int differs = strcmp(line_of(SELF), "3-8");

	_exit(differs || put(SELF, "1") || strcmp(line_of(SELF), "1"));
}

TEST_F(page_color, sets_are_inherited_and_kept_over_exec)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, put(SELF, "3-8"));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		child_of_set();
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_STREQ("3-8", line_of(SELF));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		execl("/proc/self/exe", "page_color_test", "--set-is", "3-8", NULL);
		_exit(127);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_F(page_color, lists_that_are_wrong_change_nothing)
{
	static const char lists[][16] = {
		"\n", " ", ",", "1024", "0-1024", "x", "3-1", "0-7:3/2", "-1"
	};
	size_t i;
	int fd;

	ASSERT_EQ(0, put(SELF, "9,7,0-3,2-5"));
	EXPECT_STREQ("0-5,7,9", line_of(SELF));
	for (i = 0; i < ARRAY_SIZE(lists); i++)
		EXPECT_EQ(EINVAL, put(SELF, lists[i]))
			TH_LOG("list %s", lists[i]);
	/* A list in two pieces would be two sets. */
	fd = open(SELF, O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	EXPECT_EQ(1, lseek(fd, 1, SEEK_SET));
	EXPECT_EQ(-1, write(fd, "1", 1));
	EXPECT_EQ(EINVAL, errno);
	close(fd);
	EXPECT_STREQ("0-5,7,9", line_of(SELF));
}

/* Exits with 0 if neither another user's task nor this one can be given a set. */
static void child_of_another_user(int opened, const char *path)
{
	/* After a change of user the files in /proc do not belong to the task's user. */
	if (setresuid(65534, 65534, 65534) || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
		_exit(1);
	if (put(path, "0") != EACCES)
		_exit(2);
	if (write(opened, "0", 1) != -1 || errno != EPERM)
		_exit(3);
	/* Nor may a task write its own: it would learn its frame numbers. */
	if (put(SELF, "5") != EPERM)
		_exit(4);
	_exit(strcmp(line_of(SELF), "0-1023") ? 5 : 0);
}

TEST_F(page_color, users_give_no_sets)
{
	int opened, status;
	char path[64];
	pid_t pid;

	snprintf(path, sizeof(path), "/proc/%d/page_colors", getpid());
	opened = open(path, O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, opened);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		child_of_another_user(opened, path);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_STREQ("0-1023", line_of(SELF));
	close(opened);
}

/* A cgroup and one below it, on a mount of their own. */
FIXTURE(page_color_cgroup) {
	char root[64];
	bool had_cpuset;
	char controllers[128];
	char above[128];
	char below[160];
	struct state state;
};

static int put_in(const char *folder, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	return put(path, text);
}

static const char *line_in(const char *folder, const char *file)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	return line_of(path);
}

#define OWN "cpuset.page_colors"
#define EFFECTIVE "cpuset.page_colors.effective"

FIXTURE_SETUP(page_color_cgroup)
{
	char text[64];

	snprintf(self->root, sizeof(self->root), "/tmp/page_color_test.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->root));
	if (mount("cgroup2", self->root, "cgroup2", 0, NULL))
		SKIP(return, "no cgroup v2");
	snprintf(self->controllers, sizeof(self->controllers), "%s/cgroup.subtree_control",
		 self->root);
	self->had_cpuset = strstr(line_of(self->controllers), "cpuset");
	if (put(self->controllers, "+cpuset"))
		SKIP(return, "no cpusets on cgroup v2");
	remember(&self->state);
	snprintf(text, sizeof(text), "%zuK,ways=1", COLORS * page_size >> 10);
	ASSERT_EQ(0, put(SYSFS "enabled", "0"));
	ASSERT_EQ(0, put(SYSFS "cache_size", text));
	snprintf(self->above, sizeof(self->above), "%s/page_color_test", self->root);
	ASSERT_EQ(0, mkdir(self->above, 0755));
	ASSERT_EQ(0, put_in(self->above, "cgroup.subtree_control", "+cpuset"));
	snprintf(self->below, sizeof(self->below), "%s/below", self->above);
	ASSERT_EQ(0, mkdir(self->below, 0755));
}

FIXTURE_TEARDOWN(page_color_cgroup)
{
	/* A skipped test has made no cgroups. */
	if (self->below[0]) {
		EXPECT_EQ(0, put_in(self->root, "cgroup.procs", "0"));
		EXPECT_EQ(0, rmdir(self->below));
		EXPECT_EQ(0, rmdir(self->above));
		if (!self->had_cpuset)
			put(self->controllers, "-cpuset");
		EXPECT_EQ(0, put_back(&self->state));
	}
	if (self->root[0]) {
		umount2(self->root, MNT_DETACH);
		rmdir(self->root);
	}
}

TEST_F(page_color_cgroup, children_stay_within_their_parents_colors)
{
	EXPECT_STREQ("0-1023", line_in(self->root, EFFECTIVE));
	EXPECT_EQ(0, put_in(self->above, OWN, "0-99"));
	EXPECT_STREQ("", line_in(self->below, OWN));
	EXPECT_STREQ("0-99", line_in(self->below, EFFECTIVE));
	EXPECT_EQ(0, put_in(self->below, OWN, "50-1023"));
	EXPECT_STREQ("50-1023", line_in(self->below, OWN));
	EXPECT_STREQ("50-99", line_in(self->below, EFFECTIVE));
	/* No color of the parent's: as if no color had been asked for. */
	EXPECT_EQ(0, put_in(self->below, OWN, "100"));
	EXPECT_STREQ("0-99", line_in(self->below, EFFECTIVE));
	EXPECT_EQ(0, put_in(self->above, OWN, "all"));
	EXPECT_STREQ("", line_in(self->above, OWN));
	EXPECT_STREQ("100", line_in(self->below, EFFECTIVE));
	EXPECT_EQ(EINVAL, put_in(self->below, OWN, "1024"));
	EXPECT_STREQ("100", line_in(self->below, EFFECTIVE));
	EXPECT_EQ(0, put_in(self->below, OWN, "\n"));
	EXPECT_STREQ("0-1023", line_in(self->below, EFFECTIVE));
}

TEST_F(page_color_cgroup, tasks_have_what_both_sets_have)
{
	ASSERT_EQ(0, put(SELF, "0-199"));
	EXPECT_EQ(0, put_in(self->above, OWN, "100-299"));
	EXPECT_EQ(0, put_in(self->below, "cgroup.procs", "0"));
	EXPECT_STREQ("100-199", line_of(SELF));
	EXPECT_EQ(EINVAL, put(SELF, "300"));
	EXPECT_STREQ("100-199", line_of(SELF));
	/* A change reaches tasks that are there already. */
	EXPECT_EQ(0, put_in(self->above, OWN, "150-399"));
	EXPECT_STREQ("150-199", line_of(SELF));
	EXPECT_EQ(0, put_in(self->above, OWN, "200-399"));
	EXPECT_STREQ("200-399", line_of(SELF));
	EXPECT_EQ(0, put_in(self->root, "cgroup.procs", "0"));
	EXPECT_STREQ("0-199", line_of(SELF));
}

TEST_F(page_color_cgroup, tasks_get_pages_of_its_set_only)
{
	unsigned int *colors = calloc(COLORS, sizeof(*colors));
	size_t outside = 0, i;
	char *memory;

	ASSERT_NE(NULL, colors);
	ASSERT_NE(NULL, shuffle_free_pages());
	ASSERT_EQ(0, put_in(self->above, OWN, "64-191"));
	ASSERT_EQ(0, put_in(self->below, "cgroup.procs", "0"));
	memory = map_pages(COLORS);
	ASSERT_NE(NULL, memory);
	ASSERT_EQ(0, put(SYSFS "enabled", "1"));
	touch(memory, COLORS);
	ASSERT_EQ(0, put(SYSFS "enabled", "0"));
	ASSERT_TRUE(colors_of(memory, COLORS, colors));
	for (i = 0; i < COLORS; i++)
		outside += colors[i] < 64 || colors[i] > 191;
	EXPECT_EQ(0, outside);
	free(colors);
}

int main(int argc, char **argv)
{
	page_size = sysconf(_SC_PAGESIZE);
	if (argc == 3 && !strcmp(argv[1], "--set-is"))
		return !!strcmp(line_of(SELF), argv[2]);
	if (access(SYSFS, F_OK) || geteuid()) {
		ksft_print_header();
		if (geteuid())
			ksft_exit_skip("needs root: to write to sysfs and to see frame numbers\n");
		ksft_exit_skip("no " SYSFS ": needs CONFIG_PAGE_COLOR\n");
	}
	return test_harness_run(argc, argv);
}
