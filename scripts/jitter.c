// Pauses at random around system calls with which processes communicate. Code that depends on timing then fails in minutes
// instead of once a month. Loaded into tests by scripts/jitter.sh.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { OF_A_THOUSAND = 30, LONGEST_MS = 300 };

// xorshift, seeded once per thread.
static uint64_t random_bits(void) {
    static __thread uint64_t state;
    if (state == 0) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        state = ((uint64_t)now.tv_nsec << 20 ^ (uint64_t)getpid() << 40 ^ (uintptr_t)&state) | 1;
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void pause_perhaps(void) {
    if (random_bits() % 1000 >= OF_A_THOUSAND) return;
    int before = errno;
    struct timespec left = {0, (long)(1 + random_bits() % LONGEST_MS) * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
    errno = before;
}

// A function of the C library, with a chance of a pause before and after it.
#define JITTER(result, name, parameters, arguments)                          \
    result name parameters {                                                 \
        static result(*real) parameters;                                     \
        if (real == NULL) real = (result(*) parameters)dlsym(RTLD_NEXT, #name); \
        pause_perhaps();                                                     \
        result got = real arguments;                                         \
        pause_perhaps();                                                     \
        return got;                                                          \
    }

JITTER(ssize_t, write, (int file, const void *bytes, size_t length), (file, bytes, length))
JITTER(ssize_t, writev, (int file, const struct iovec *pieces, int count), (file, pieces, count))
JITTER(ssize_t, send, (int file, const void *bytes, size_t length, int flags), (file, bytes, length, flags))
JITTER(ssize_t, sendmsg, (int file, const struct msghdr *message, int flags), (file, message, flags))
JITTER(ssize_t, recv, (int file, void *bytes, size_t length, int flags), (file, bytes, length, flags))
JITTER(int, connect, (int file, const struct sockaddr *address, socklen_t length), (file, address, length))
JITTER(int, accept4, (int file, struct sockaddr *address, socklen_t *length, int flags), (file, address, length, flags))
JITTER(int, epoll_wait, (int file, struct epoll_event *events, int most, int patience), (file, events, most, patience))
JITTER(int, rename, (const char *from, const char *to), (from, to))
JITTER(int, unlink, (const char *path), (path))
JITTER(int, fsync, (int file), (file))
JITTER(int, fdatasync, (int file), (file))
JITTER(int, kill, (pid_t process, int signal), (process, signal))
