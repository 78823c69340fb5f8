// thread: a function that runs beside the caller. Signals are blocked in it, so that they reach the thread of
// the screen.
#ifndef REDRIVE_ASYNC_THREAD_H
#define REDRIVE_ASYNC_THREAD_H

struct thread;

struct thread *thread_start(void (*run)(void *context), void *context, const char *name);
void thread_join(struct thread *thread); // waits for the end of the function, frees; NULL is fine

#endif
