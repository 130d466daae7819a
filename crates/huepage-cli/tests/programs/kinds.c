/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Memory that the kernel or a device uses in one special way or another, while
 * the pages below are exchanged. kinds SECONDS NAME; exits with 0 if every byte
 * was where it belongs, 77 where the kernel has no such thing. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "now.h"

enum { PAGE = 4096, PAGES = 32, BYTES = PAGES * PAGE };
static double end;

#define CHECK(condition, ...) do { if (!(condition)) { \
	fprintf(stderr, "line %d: ", __LINE__); fprintf(stderr, __VA_ARGS__); \
	fprintf(stderr, " (%s)\n", strerror(errno)); exit(1); } } while (0)
#define SKIP(...) do { fprintf(stderr, "skipped: " __VA_ARGS__); \
	fprintf(stderr, " (%s)\n", strerror(errno)); exit(77); } while (0)

static char *map(int pages)
{
	char *p = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED, "mmap");
	return p;
}
static uint64_t word(uint64_t round, size_t at) { return (round << 24 | at) * 0x9e3779b97f4a7c15; }
static void fill(char *p, uint64_t round)
{
	for (size_t i = 0; i < BYTES; i += 64) *(volatile uint64_t *)(p + i) = word(round, i);
}
static size_t wrong(char *p, uint64_t round)
{
	for (size_t i = 0; i < BYTES; i += 64)
		if (*(volatile uint64_t *)(p + i) != word(round, i)) return i + 1;
	return 0;
}
static void same(char *p, uint64_t round, const char *what)
{
	CHECK(!wrong(p, round), "%s: wrong at %zx", what, wrong(p, round) - 1);
}

static void locked(uint64_t round)
{
	static char *p;
	if (!p) p = map(PAGES);
	fill(p, round);
	CHECK(!mlock(p, BYTES / 2), "mlock");
	same(p, round, "locked");
	CHECK(!munlock(p, BYTES / 2), "munlock");
	same(p, round, "unlocked");
}
static void all_locked(uint64_t round)
{
	static char *p;
	if (!p) p = map(PAGES);
	if (round % 2) CHECK(!mlockall(round % 4 == 1 ? MCL_CURRENT | MCL_FUTURE : MCL_CURRENT), "mlockall");
	else CHECK(!munlockall(), "munlockall");
	fill(p, round);
	same(p, round, "all locked");
	char *q = map(PAGES);
	fill(q, round);
	same(q, round, "new");
	munmap(q, BYTES);
}
static void advised(uint64_t round)
{
	static char *p;
	static const int kinds[] = { MADV_COLD, MADV_PAGEOUT, MADV_MERGEABLE, MADV_UNMERGEABLE, MADV_HUGEPAGE,
		MADV_NOHUGEPAGE, MADV_WILLNEED, MADV_POPULATE_READ, MADV_POPULATE_WRITE, MADV_RANDOM, MADV_NORMAL,
		MADV_DONTDUMP, MADV_DODUMP, MADV_DONTFORK, MADV_DOFORK };
	if (!p) p = map(PAGES);
	fill(p, round);
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		/* Not every kernel has every kind. */
		if (madvise(p, BYTES, kinds[i])) CHECK(errno == EINVAL, "madvise %d", kinds[i]);
		same(p, round, "advised");
	}
	/* Freed pages hold what they held, or zeros, and keep what is written. */
	CHECK(!madvise(p, BYTES, MADV_FREE), "free");
	for (size_t i = 0; i < BYTES; i += 64) {
		uint64_t is = *(volatile uint64_t *)(p + i);
		CHECK(!is || is == word(round, i), "freed: %lx", is);
	}
	fill(p, round + 1);
	same(p, round + 1, "written after it was freed");
}
static int file(int flags)
{
	char name[] = "/var/tmp/huepage-kinds-XXXXXX";
	int fd = mkostemp(name, flags);
	if (fd < 0) SKIP("a file");
	unlink(name);
	return fd;
}
static void direct(uint64_t round)
{
	static int fd;
	static char *p, *q;
	if (!p) { fd = file(O_DIRECT); p = map(PAGES); q = map(PAGES); }
	fill(p, round);
	ssize_t n = pwrite(fd, p, BYTES, 0);
	if (n < 0 && errno == EINVAL) SKIP("direct I/O");
	CHECK(n == BYTES, "pwrite %zd", n);
	fill(q, round + 7);
	CHECK(pread(fd, q, BYTES, 0) == BYTES, "pread");
	same(q, round, "read");
	same(p, round, "written");
}
static void spliced(uint64_t round)
{
	static char *p;
	static int pipes[2];
	if (!p) { p = map(PAGES); CHECK(!pipe(pipes), "pipe"); }
	fill(p, round);
	struct iovec iov = { p, 8 * PAGE };
	CHECK(vmsplice(pipes[1], &iov, 1, 0) == 8 * PAGE, "vmsplice");
	/* The pipe refers to the pages for a while. */
	usleep(300);
	static char copy[8 * PAGE];
	for (size_t got = 0; got < sizeof copy;) {
		ssize_t n = read(pipes[0], copy + got, sizeof copy - got);
		CHECK(n > 0, "read");
		got += n;
	}
	for (size_t i = 0; i < sizeof copy; i += 64)
		CHECK(*(uint64_t *)(copy + i) == word(round, i), "spliced: wrong at %zx", i);
	same(p, round, "after");
}
static void traced(uint64_t round)
{
	static long *shared, *own;
	static pid_t child;
	if (!child) {
		shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		own = (long *)map(PAGES);
		for (int i = 0; i < PAGES; i++) own[i * 512] = 0;
		child = fork();
		if (!child) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;) {
				/* What the tracer wrote is what is read. */
				for (int i = 0; i < PAGES; i++) shared[i] = own[i * 512];
				usleep(50);
			}
		}
	}
	CHECK(!ptrace(PTRACE_ATTACH, child, 0, 0), "attach");
	int status;
	waitpid(child, &status, 0);
	int at = round % PAGES;
	/* A page that is just out cannot be reached at this moment; the placer
	 * notices the tracer, and is done soon. */
	int tries = 0;
	while (ptrace(PTRACE_POKEDATA, child, own + at * 512, (void *)round)) {
		CHECK(errno == EIO && ++tries < 10000, "poke");
		usleep(100);
	}
	long is;
	do {
		errno = 0;
		is = ptrace(PTRACE_PEEKDATA, child, own + at * 512, 0);
	} while (is == -1 && errno == EIO && ++tries < 10000 && !usleep(100));
	CHECK(is == (long)round, "peek %ld, not %ld", is, (long)round);
	CHECK(!ptrace(PTRACE_DETACH, child, 0, 0), "detach");
	double limit = now() + 10;
	while (((volatile long *)shared)[at] != (long)round) CHECK(now() < limit, "lost a poke");
}
struct handler { int fd; char *at; uint64_t round; };
static void *handle(void *p)
{
	struct handler *h = p;
	static char page[PAGE] __attribute__((aligned(PAGE)));
	for (int done = 0; done < PAGES; done++) {
		struct uffd_msg m;
		if (read(h->fd, &m, sizeof m) != sizeof m) return NULL;
		size_t offset = (m.arg.pagefault.address & ~(PAGE - 1ul)) - (uintptr_t)h->at;
		for (size_t i = 0; i < PAGE; i += 64) *(uint64_t *)(page + i) = word(h->round, offset + i);
		struct uffdio_copy c = { .dst = (uintptr_t)h->at + offset, .src = (uintptr_t)page, .len = PAGE };
		CHECK(!ioctl(h->fd, UFFDIO_COPY, &c), "copy");
	}
	return NULL;
}
static void own_userfaultfd(uint64_t round)
{
	static char *p;
	/* Placed while there is none. */
	if (!p) p = map(PAGES);
	fill(p, round);
	usleep(20000);
	same(p, round, "between");
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	if (fd < 0) SKIP("userfaultfd");
	struct uffdio_api api = { .api = UFFD_API };
	CHECK(!ioctl(fd, UFFDIO_API, &api), "api");
	/* A placer that had just begun is done by now. */
	usleep(20000);
	struct handler h = { fd, map(PAGES), round };
	struct uffdio_register r = { .range = { (uintptr_t)h.at, BYTES }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	CHECK(!ioctl(fd, UFFDIO_REGISTER, &r), "register");
	pthread_t t;
	pthread_create(&t, NULL, handle, &h);
	same(h.at, round, "own");
	pthread_join(t, NULL);
	munmap(h.at, BYTES);
	close(fd);
}
static void ring(uint64_t round)
{
	static int fd, disk;
	static char *p, *sq, *cq;
	static struct io_uring_sqe *sqes;
	static struct io_uring_params params;
	if (!p) {
		fd = syscall(SYS_io_uring_setup, 4, &params);
		if (fd < 0) SKIP("io_uring");
		sq = mmap(NULL, params.sq_off.array + params.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
		cq = mmap(NULL, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_CQ_RING);
		sqes = mmap(NULL, params.sq_entries * sizeof(*sqes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
		CHECK(sq != MAP_FAILED && cq != MAP_FAILED && sqes != MAP_FAILED, "rings");
		p = map(2 * PAGES);
		fill(p, 1);
		struct iovec iov = { p, 2 * BYTES };
		if (syscall(SYS_io_uring_register, fd, IORING_REGISTER_BUFFERS, &iov, 1)) {
			CHECK(errno != EFAULT, "register");
			SKIP("registered buffers");
		}
		disk = file(0);
	}
	char *from = p, *to = p + BYTES;
	fill(from, round);
	for (int k = 0; k < 2; k++) {
		struct io_uring_sqe *e = sqes;
		memset(e, 0, sizeof *e);
		e->opcode = k ? IORING_OP_READ_FIXED : IORING_OP_WRITE_FIXED;
		e->fd = disk;
		e->addr = (uintptr_t)(k ? to : from);
		e->len = BYTES;
		unsigned *tail = (unsigned *)(sq + params.sq_off.tail), *array = (unsigned *)(sq + params.sq_off.array);
		array[*tail & *(unsigned *)(sq + params.sq_off.ring_mask)] = 0;
		__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
		CHECK(syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1, "enter");
		unsigned *head = (unsigned *)(cq + params.cq_off.head);
		struct io_uring_cqe *c = (struct io_uring_cqe *)(cq + params.cq_off.cqes) + (*head & *(unsigned *)(cq + params.cq_off.ring_mask));
		int result = c->res;
		__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
		CHECK(result == BYTES, "ring: %d", result);
	}
	same(to, round, "ring");
	same(from, round, "ring, from");
}
static void huge(uint64_t round)
{
	static char *p;
	if (!p) {
		p = map(1024 + 512);
		p = (char *)(((uintptr_t)p + (2 << 20) - 1) & -(2ul << 20));
	}
	madvise(p, 2 << 20, round % 2 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	fill(p, round);
	same(p, round, "huge");
	if (round % 8 == 7) {
#ifdef MADV_COLLAPSE
		madvise(p, 2 << 20, MADV_COLLAPSE);
#endif
		same(p, round, "collapsed");
		madvise(p, 2 << 20, MADV_DONTNEED);
		CHECK(!*(volatile uint64_t *)p, "discarded");
	}
}
static void protect(uint64_t round)
{
	static char *p;
	if (!p) p = map(PAGES);
	fill(p, round);
	CHECK(!mprotect(p, BYTES / 2, PROT_READ), "mprotect");
	same(p, round, "read only");
	CHECK(!mprotect(p, BYTES, PROT_NONE), "mprotect");
	CHECK(!mprotect(p, BYTES, PROT_READ | PROT_WRITE), "mprotect");
	same(p, round, "protected");
}
/* fork, vfork, exec in turn; what is executed checks that it can run at all */
static void executes(uint64_t round)
{
	static char *p;
	if (!p) p = map(PAGES);
	fill(p, round);
	pid_t child = round % 2 ? vfork() : fork();
	if (!child) { execl("/bin/true", "true", NULL); _exit(127); }
	int status;
	waitpid(child, &status, 0);
	CHECK(!status, "child %x", status);
	same(p, round, "after a child");
}

/* As much as a limit allows: what the placer needs besides is refused. */
static char *taken[4096];
static size_t taken_bytes[4096];
static int chunks;
static void take_all(int resource, const char *field)
{
	char line[256];
	size_t now_kib = 0;
	FILE *f = fopen("/proc/self/status", "r");
	CHECK(f, "status");
	while (fgets(line, sizeof line, f))
		if (!strncmp(line, field, strlen(field))) now_kib = strtoul(line + strlen(field), NULL, 10);
	fclose(f);
	size_t limit = (now_kib << 10) + (192 << 20);
	CHECK(!setrlimit(resource, &(struct rlimit){ limit, limit }), "setrlimit");
	for (size_t size = 8 << 20; size >= PAGE; size /= 2)
		while (chunks < 4096) {
			char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (p == MAP_FAILED) break;
			taken_bytes[chunks] = size;
			taken[chunks++] = p;
		}
	CHECK(taken_bytes[0] == 8 << 20 && chunks < 4096, "%d chunks", chunks);
}
static void use_all(void)
{
	/* More from round to round: so the placer needs more, too. */
	static size_t used;
	size_t at = 0, more = used + (8 << 20);
	for (int c = 0; c < chunks; c++)
		for (size_t i = 0; i < taken_bytes[c] && at < more; i += PAGE, at += PAGE) {
			volatile uint64_t *w = (uint64_t *)(taken[c] + i);
			if (at < used) CHECK(*w == word(1, at), "chunk %d: wrong at %zx", c, i);
			else *w = word(1, at);
		}
	used = at;
	usleep(1000);
}
static void at_limit(uint64_t round, int resource, const char *field)
{
	static char *p;
	/* Placed for a while before. */
	if (!p) p = map(PAGES);
	fill(p, round);
	same(p, round, "before");
	if (round < 400) usleep(1000);
	else if (!chunks) take_all(resource, field);
	else use_all();
}
static void data_limit(uint64_t round) { at_limit(round, RLIMIT_DATA, "VmData:"); }
static void address_limit(uint64_t round) { at_limit(round, RLIMIT_AS, "VmSize:"); }
/* Nobody else takes a number of a descriptor, even for a moment. */
static void descriptors(uint64_t round)
{
	(void)round;
	int first = open("/dev/null", O_RDONLY);
	for (int i = 0, fd; i < 1000; i++) {
		close(first);
		fd = open("/dev/null", O_RDONLY);
		CHECK(fd == first, "descriptor %d where %d was free", fd, first);
	}
	close(first);
}

/* Paged out and read again: a swap file is there, or a limit of memory. */
static void paged_out(uint64_t round)
{
	static char *p;
	if (!p) p = map(PAGES);
	fill(p, round);
	/* Once to have it written, once more to have it dropped. */
	madvise(p, BYTES, MADV_PAGEOUT);
	usleep(round % 8 * 500);
	madvise(p, BYTES, MADV_PAGEOUT);
	same(p, round, "paged out");
	madvise(p, BYTES / 2, MADV_PAGEOUT);
	fill(p, round + 1);
	same(p, round + 1, "paged out and written");
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	CHECK(round < 200 || usage.ru_majflt > 20, "nothing is read from the swap file");
}
/* More than the limit of a cgroup together with a file's pages. */
static void memory_limit(uint64_t round)
{
	static char *p[8], *text;
	static int fd;
	if (!text) { fd = file(0); text = map(PAGES); for (int i = 0; i < 8; i++) fill(p[i] = map(PAGES), 1); }
	int mine = round % 8;
	same(p[mine], round <= 8 ? 1 : round - 8, "limited");
	fill(p[mine], round);
	fill(text, round);
	for (int i = 0; i < 16; i++) CHECK(pwrite(fd, text, BYTES, (round * 16 + i) % 512 * BYTES) == BYTES, "pwrite");
	CHECK(pread(fd, text, BYTES, round * 16 % 512 * BYTES) == BYTES, "pread");
	same(text, round, "file");
}
static void *one_of_many(void *p)
{
	/* Its stack and its heap are its own, whoever else begins and ends. */
	volatile uint64_t here[256];
	uint64_t seed = (uintptr_t)p;
	volatile uint64_t *there = malloc(9000);
	for (int i = 0; i < 256; i++) here[i] = there[i] = word(seed, i);
	usleep(seed % 5000);
	for (int i = 0; i < 256; i++)
		if (here[i] != word(seed, i) || there[i] != word(seed, i)) return NULL;
	free((void *)there);
	return p;
}
static void many_threads(uint64_t round)
{
	enum { THREADS = 1000 };
	static pthread_t t[THREADS];
	pthread_attr_t a;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 64 << 10);
	for (long i = 0; i < THREADS; i++) {
		int e = pthread_create(&t[i], &a, one_of_many, (void *)(round * THREADS + i + 1));
		if (e == EAGAIN) SKIP("1000 threads");
		CHECK(!e, "pthread_create: %d", e);
	}
	for (long i = 0; i < THREADS; i++) {
		void *result;
		CHECK(!pthread_join(t[i], &result), "join");
		CHECK(result == (void *)(round * THREADS + i + 1), "thread %ld", i);
	}
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*run)(uint64_t); } all[] = {
		{ "locked", locked }, { "all-locked", all_locked }, { "advised", advised }, { "direct", direct },
		{ "spliced", spliced }, { "traced", traced }, { "own-userfaultfd", own_userfaultfd }, { "ring", ring },
		{ "huge", huge }, { "protect", protect }, { "executes", executes },
		{ "data-limit", data_limit }, { "address-limit", address_limit }, { "paged-out", paged_out },
		{ "memory-limit", memory_limit }, { "many-threads", many_threads }, { "descriptors", descriptors },
	};
	if (argc < 3) return 2;
	end = now() + atof(argv[1]);
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(argv[2], all[i].name)) {
			for (uint64_t round = 1; now() < end; round++) all[i].run(round);
			return 0;
		}
	return 2;
}
