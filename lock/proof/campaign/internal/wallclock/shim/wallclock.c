// Shows the program it is preloaded into a wall clock that a test sets: gettimeofday,
// time and clock_gettime(CLOCK_REALTIME) answer from a file that is mapped into memory.
// CLOCK_MONOTONIC stays what it is. Nothing here allocates: the program's allocator may
// itself ask for the time while it starts.

#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// The same as struct setting in clock.go. The version is odd while it is written.
struct setting {
	_Atomic uint64_t version;
	_Atomic int64_t since; // an instant of CLOCK_MONOTONIC, in ns
	_Atomic int64_t shown; // what is shown then, in ns since 1970
	_Atomic int64_t ppb;   // by how much it runs too fast
};

static struct setting *setting;

__attribute__((constructor)) static void map_setting(void) {
	// A file size limit is how a full disk is made: the write fails, the program goes on.
	signal(SIGXFSZ, SIG_IGN);
	const char *path = getenv("WALLCLOCK_FILE");
	if (!path) {
		return;
	}
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return;
	}
	void *at = mmap(0, sizeof(struct setting), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (at != MAP_FAILED) {
		setting = at;
	}
}

static int64_t shown_ns(void) {
	struct timespec t;
	if (!setting) {
		syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
		return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	}
	for (;;) {
		uint64_t version = atomic_load(&setting->version);
		int64_t since = atomic_load(&setting->since);
		int64_t shown = atomic_load(&setting->shown);
		int64_t ppb = atomic_load(&setting->ppb);
		if (version % 2 || version != atomic_load(&setting->version)) {
			continue;
		}
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
		int64_t passed = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec - since;
		return shown + passed + (int64_t)((__int128)passed * ppb / 1000000000);
	}
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz) {
	(void)tz;
	int64_t now = shown_ns();
	if (tv) {
		tv->tv_sec = now / 1000000000;
		tv->tv_usec = now % 1000000000 / 1000;
	}
	return 0;
}

time_t time(time_t *at) {
	time_t now = shown_ns() / 1000000000;
	if (at) {
		*at = now;
	}
	return now;
}

int clock_gettime(clockid_t id, struct timespec *t) {
	if (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE) {
		return syscall(SYS_clock_gettime, id, t);
	}
	int64_t now = shown_ns();
	t->tv_sec = now / 1000000000;
	t->tv_nsec = now % 1000000000;
	return 0;
}
