/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * LD_PRELOAD: the program's n-th allocation fails, n from $FAIL_ALLOCATION; a byte on the file
 * descriptor $FAIL_FD tells that it has. Those of the libraries do not count: an allocation is
 * the program's if it returns to the executable.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *old, size_t size);

static uintptr_t first, last;	/* of the executable's code */
static unsigned long left;
static int told = -1;

static int find_program(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		first = info->dlpi_addr + p->p_vaddr;
		last = first + p->p_memsz;
	}
	return 1;		/* the executable comes first; it is all we want */
}

__attribute__((constructor)) static void begin(void)
{
	const char *nth = getenv("FAIL_ALLOCATION"), *fd = getenv("FAIL_FD");

	dl_iterate_phdr(find_program, NULL);
	left = nth ? strtoul(nth, NULL, 10) : 0;
	told = fd ? atoi(fd) : -1;
}

static int fails(const void *caller)
{
	if (!left || (uintptr_t)caller - first >= last - first || --left)
		return 0;
	return write(told, "", 1) | 1;
}

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(nr, size);
}

void *realloc(void *old, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}
