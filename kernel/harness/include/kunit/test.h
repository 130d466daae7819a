/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the index's tests need of KUnit, so that the same tests run here and in
 * the kernel: see kunit.c.
 */
#ifndef HARNESS_KUNIT_TEST_H
#define HARNESS_KUNIT_TEST_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define GFP_KERNEL 0

struct kunit {
	jmp_buf end;
	bool failed;
	void *memory[64];
	size_t memories;
};

struct kunit_case {
	void (*run)(struct kunit *test);
	const char *name;
};

struct kunit_suite {
	const char *name;
	struct kunit_case *test_cases;
	struct kunit_suite *next;
};

#define KUNIT_CASE(function) { .run = function, .name = #function }

/* Suites make themselves known before main. */
#define kunit_test_suite(suite)                                                \
	__attribute__((constructor)) static void suite##_register(void)        \
	{                                                                      \
		kunit_register(&(suite));                                      \
	}                                                                      \
	_Static_assert(1, "")

void kunit_register(struct kunit_suite *suite);
void *kunit_kzalloc(struct kunit *test, size_t bytes, int flags);
void kunit_fail(struct kunit *test, bool end, const char *file, int line,
		const char *left_text, long long left, const char *relation,
		const char *right_text, long long right);

#define HARNESS_COMPARE(test, end, left, relation, right)                      \
	do {                                                                   \
		__typeof__((left) + (right)) left_value = (left);              \
		__typeof__(left_value) right_value = (right);                  \
		if (!(left_value relation right_value))                        \
			kunit_fail(test, end, __FILE__, __LINE__, #left,       \
				   (long long)left_value, #relation, #right,   \
				   (long long)right_value);                    \
	} while (0)

#define KUNIT_EXPECT_EQ(test, l, r) HARNESS_COMPARE(test, false, l, ==, r)
#define KUNIT_EXPECT_NE(test, l, r) HARNESS_COMPARE(test, false, l, !=, r)
#define KUNIT_EXPECT_LE(test, l, r) HARNESS_COMPARE(test, false, l, <=, r)
#define KUNIT_EXPECT_GT(test, l, r) HARNESS_COMPARE(test, false, l, >, r)
#define KUNIT_EXPECT_TRUE(test, c) HARNESS_COMPARE(test, false, !!(c), ==, 1)
#define KUNIT_EXPECT_FALSE(test, c) HARNESS_COMPARE(test, false, !!(c), ==, 0)
#define KUNIT_ASSERT_EQ(test, l, r) HARNESS_COMPARE(test, true, l, ==, r)
#define KUNIT_ASSERT_NE(test, l, r) HARNESS_COMPARE(test, true, l, !=, r)
#define KUNIT_ASSERT_LT(test, l, r) HARNESS_COMPARE(test, true, l, <, r)
#define KUNIT_ASSERT_LE(test, l, r) HARNESS_COMPARE(test, true, l, <=, r)
#define KUNIT_ASSERT_GT(test, l, r) HARNESS_COMPARE(test, true, l, >, r)
#define KUNIT_ASSERT_TRUE(test, c) HARNESS_COMPARE(test, true, !!(c), ==, 1)
#define KUNIT_ASSERT_NOT_NULL(test, p)                                         \
	HARNESS_COMPARE(test, true, (p) != NULL, ==, 1)

#endif
