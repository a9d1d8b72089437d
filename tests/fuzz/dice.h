/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes as random decisions. When they have run out every answer is 0. */
#ifndef FUZZ_DICE_H
#define FUZZ_DICE_H

#include "core/types.h"

struct dice {
	const u8 *at;
	size_t left;
};

static inline u32 dice_byte(struct dice *d)
{
	if (!d->left)
		return 0;
	d->left--;
	return *d->at++;
}

/* 0 .. below - 1, below up to 65536; 0 if that is 0 */
static inline u32 roll(struct dice *d, u32 below)
{
	u32 value;

	if (below <= 1)
		return 0;
	value = dice_byte(d);
	if (below > 256)
		value |= dice_byte(d) << 8;
	return value % below;
}

/* Once in so many times. */
static inline bool chance(struct dice *d, u32 times)
{
	return roll(d, times) == times - 1;
}

#endif
