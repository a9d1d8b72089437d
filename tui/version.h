/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VERSION_H
#define VERSION_H

#define VERSION "0.1.0"

#endif
