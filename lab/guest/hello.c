// SPDX-License-Identifier: MIT OR Apache-2.0
/* The smallest guest program; with fail= it shows how runs fail. */
#define _GNU_SOURCE
#include "lab.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct utsname name;

	lab_start(argc, argv);
	const char *fail = lab_text("fail");

	uname(&name);
	lab_result("{\"release\":\"%s\",\"machine\":\"%s\",\"cpus\":%ld}",
		   name.release, name.machine, sysconf(_SC_NPROCESSORS_ONLN));
	if (!strcmp(fail, "panic"))
		lab_write("/proc/sysrq-trigger", "c");
	if (!strcmp(fail, "hang"))
		for (;;)
			pause();
	if (!strcmp(fail, "exit"))
		return 0;
	if (!strcmp(fail, "guest")) {
		errno = 0;
		lab_fail("as asked for");
	}
	if (strcmp(fail, "region")) {
		volatile int count = 0;

		REGION_BEGIN(1);
		while (count < 1000)
			count++;
		REGION_END(1);
	}
	lab_done();
}
