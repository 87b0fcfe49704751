/* signals.h - the sampler's signal stays the sampler's.

   A program that sets all signals to their default, or blocks them all, would be ended by the next sample, or have all of them at once
   when it unblocks them.  So calls of sigaction, signal and of what blocks signals come here first, from C modules and FFI, too: for this
   one signal they only seem to be done. */
#ifndef TRACE_RUN_SIGNALS_H
#define TRACE_RUN_SIGNALS_H

/* A handler that is installed between the two is the sampler's: its real-time signal is kept from then on, and is not blocked. */
void signals_begin(void), signals_end(void);
/* A forked child has no sampler. */
void signals_detach(void);
#endif
