// SPDX-License-Identifier: MIT OR Apache-2.0
/* Runs the kernel's KUnit suites of the index as a program. */
#include <kunit/test.h>
#include <stdio.h>
#include <stdlib.h>

static struct kunit_suite *suites;

void kunit_register(struct kunit_suite *suite)
{
	suite->next = suites;
	suites = suite;
}

void *kunit_kzalloc(struct kunit *test, size_t bytes, int flags)
{
	(void)flags;
	if (test->memories == ARRAY_SIZE(test->memory)) {
		fputs("a test has too many pieces of memory\n", stderr);
		exit(1);
	}
	test->memory[test->memories] = calloc(1, bytes);
	return test->memory[test->memories++];
}

void kunit_fail(struct kunit *test, bool end, const char *file, int line,
		const char *left_text, long long left, const char *relation,
		const char *right_text, long long right)
{
	printf("# %s:%d: %s is %lld, not %s %s, which is %lld\n", file, line,
	       left_text, left, relation, right_text, right);
	test->failed = true;
	if (end)
		longjmp(test->end, 1);
}

static bool run(const struct kunit_case *one)
{
	struct kunit test = { .failed = false };

	if (!setjmp(test.end))
		one->run(&test);
	while (test.memories)
		free(test.memory[--test.memories]);
	return !test.failed;
}

int main(void)
{
	int failures = 0, tests = 0;

	for (struct kunit_suite *suite = suites; suite; suite = suite->next) {
		for (struct kunit_case *one = suite->test_cases; one->run; one++) {
			bool passed = run(one);

			printf("%s %d %s.%s\n", passed ? "ok" : "not ok", ++tests,
			       suite->name, one->name);
			failures += !passed;
		}
	}
	printf("%d of %d tests failed\n", failures, tests);
	return failures || !tests;
}
