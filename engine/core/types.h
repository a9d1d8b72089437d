/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CORE_TYPES_H
#define CORE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

/* Page tables: 4K pages, 512 entries a table; both architectures. */
#define PAGE_SHIFT	12
#define PAGE_SIZE	(1ull << PAGE_SHIFT)
#define PTRS_PER_PTE	512
#define PMD_SHIFT	21
#define PMD_SIZE	(1ull << PMD_SHIFT)

#define NR_OF(array) (sizeof(array) / sizeof((array)[0]))

/*
 * What runs operations is compiled twice: to be watched, and for lanes that are only
 * counted (UNWATCHED), where no step is heard of, no change noted and no stack read.
 */
#if defined(UNWATCHED)
#define is_unwatched true
#else
#define is_unwatched false
#endif

/*
 * A function that mirrors a kernel function keeps a stack frame of its own,
 * so that libunwind finds it: never inlined, cloned or folded.
 */
#if defined(UNWATCHED)
#define __mirrored
#elif defined(__clang__)
#define __mirrored __attribute__((noinline))
#else
#define __mirrored __attribute__((noinline, noipa))
#endif

#define unlikely(x) __builtin_expect(!!(x), 0)

#endif
