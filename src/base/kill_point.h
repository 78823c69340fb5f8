// kill_point: places where the crash tests end the process as SIGKILL would. Compiled only with
// REDRIVE_KILL_POINTS; the program that ships has no trace of them.
//
// REDRIVE_KILL=<point>:<n> kills at the n-th passage of that point (from 1); <point>:<n>:stop freezes there,
// as SIGSTOP would, until SIGCONT. KILL_POINT_SOON arms a timer of up to 3 ms instead, so that
// death comes while the request made next is in flight. PROTOCOL.md, "How it was tested", lists the points of
// a publish, tests/crash/ingest those of an ingester.
#ifndef REDRIVE_BASE_KILL_POINT_H
#define REDRIVE_BASE_KILL_POINT_H

#ifdef REDRIVE_KILL_POINTS
void kill_point(const char *name);
void kill_point_soon(const char *name);
#define KILL_POINT(name) kill_point(name)
#define KILL_POINT_SOON(name) kill_point_soon(name)
#else
#define KILL_POINT(name) ((void)0)
#define KILL_POINT_SOON(name) ((void)0)
#endif

#endif
