// thread: a function that runs beside the screen. Signals are blocked in it, so that they reach the UI
// thread.
#ifndef REDRIVE_ASYNC_THREAD_H
#define REDRIVE_ASYNC_THREAD_H

struct thread;

struct thread *thread_start(void (*run)(void *context), void *context, const char *name);
void thread_join(struct thread *thread); // waits for its end and frees it; NULL is fine

#endif
