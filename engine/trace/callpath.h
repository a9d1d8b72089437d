/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who calls whom at a step, read off the real stack.
 *
 *   unw_backtrace()   0x5601.. 0x5604.. 0x5602.. 0x5609.. ...   return addresses
 *         |           hashed and compared whole: seen before -> its number, done
 *   start addresses   trace_record  folio_dup_swap  try_to_unmap_one ... run_op  main
 *         |           looked up in the table; what is not there is left out,
 *         v           the boundary ends the path
 *   call path         folio_dup_swap < try_to_unmap_one < ...
 */
#ifndef TRACE_CALLPATH_H
#define TRACE_CALLPATH_H

#include "mm/functions.h"
#include "trace/trace.h"

struct callpaths;

/* The table must outlive it. NULL: out of memory. */
struct callpaths *callpaths_new(const struct mirrored *table, u32 nr);
void callpaths_free(struct callpaths *p);
void callpaths_set_boundary(struct callpaths *p, void (*fn)(void));
/* The next step may come from anywhere: the stack is another one. */
void callpaths_restart(struct callpaths *p);
/* The number of the path that leads here. 0 is the empty path, and out of memory or numbers. */
u16 callpaths_here(struct callpaths *p);
/*
 * The same for a step at site, the address that the recorder returns to; entered: the
 * step tells that a function was entered. Entering a mirrored function always is a step;
 * so if the last step in this very frame had a site in this very mirrored function, the
 * path is still the same, and the stack need not be read. Of helpers nothing tells who
 * called them: for them it is. site NULL: read it.
 */
u16 callpaths_at(struct callpaths *p, bool entered, const void *site);
/* Memory or numbers ran out: since then some paths are the empty one that are not empty. */
bool callpaths_lost(const struct callpaths *p);
const struct call_path *callpaths_get(const struct callpaths *p, u32 path);
size_t callpaths_bytes(const struct callpaths *p);

/*
 * Write the stack to fd, a line a frame, from a signal handler: no allocation, no
 * stdio. Frames are named if the table has them; others are offsets for addr2line.
 */
void callpath_crash(int fd);

#endif
