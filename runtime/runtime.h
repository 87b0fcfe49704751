/* runtime.h - the code that runs inside a profiled process, for the stubs that so-gen emits.

   It is one blob for each machine (blob-MACHINE.h): position-independent, freestanding, without relocations, data of its own,
   locks, allocation, output or vector registers; it leaves errno, signal masks and the floating-point state alone and needs less
   than 8 KiB of stack.  Both functions follow the C calling convention, and so may change every caller-saved general register and
   the flags (MIPS: HI and LO too, but not $gp); the direction flag must be clear.  A stub that stands where the C convention does
   not hold saves those registers and flags, and steps over the red zone first.  The blob has no unwinding tables.

   Memory: the private page, the header page or pages and the counters lie one behind the other, and the object's segment covers
   all COUNTERS_MAPPED bytes from the header on, since they are mapped over.  The object file holds alive = 1, the directory, and
   the header filled in down to "the run".

   Files: OBJECT.PID.N and COUNTERS_USAGE in the directory, never through a symbolic link of that name, never longer than
   RLIMIT_FSIZE, every block reserved.  SOPROF_DIR and SOPROF_MAX are read from /proc/self/environ, that is as the program was
   started with them, or where there is no /proc from what constructors are given; a program with more rights than its user has the fixed directory and the default cap.

   Fork: a page that the kernel clears in a forked child (MADV_WIPEONFORK) tells parent and child apart; a child that shares its
   parent's memory (threads, vfork, posix_spawn) reads 1 there and counts on in the same file.  A sandbox that kills on a system
   call which it does not expect would kill a child that is forked inside it.  Emulators that do not clear the page (qemu-user
   7.2) make a fork of every vfork too: there the page reads 0 from the beginning, each call of runtime_child compares process
   numbers, and a vfork's child has a file of its own.

   Whatever fails, the program goes on and counts in memory of its own: counters_private.state tells. */
#ifndef RUNTIME_RUNTIME_H
#define RUNTIME_RUNTIME_H
#include "formats/counters.h"

/* ENVIRONMENT: a constructor's third argument, or whatever its register holds.
   To be called once in an object, before its other constructors (DT_INIT, or the first init-array slot); it does nothing the
   second time.  P is the private page; H, the header, is header.page bytes behind it.  Until then and always where no file can be
   had, the object counts in its own private pages; from here on in the file's. */
void runtime_init(struct counters_private *p, struct counters_header *h, const char *const *environment);

/* To be called when p->alive reads 0: this process was (perhaps) forked and still maps its parent's files.  Gives every profiled
   object of the process a file of its own, or private memory. */
void runtime_child(struct counters_private *p, struct counters_header *h);
#endif
