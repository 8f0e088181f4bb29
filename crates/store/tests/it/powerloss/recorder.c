// Records every change and every sync of files in one directory, in order. Loaded into the workload of the power-loss test
// with LD_PRELOAD. SAYSO_RECORD_DIR is the directory, SAYSO_RECORD_TO the file that gets the records. One lock around each call
// and its record makes the order of records the order of calls.
//
// A record is: kind (1 byte), inode (8), offset (8), length (4), then as many bytes. trace.rs reads it.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CREATE = 1, WRITE, TRUNCATE, SYNC, RENAME, LINK, UNLINK, SYNC_DIR };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *trace;
static char dir[4096];
static size_t dir_length;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void start(void) {
    const char *to = getenv("SAYSO_RECORD_TO");
    const char *in = getenv("SAYSO_RECORD_DIR");
    if (to == NULL || in == NULL || realpath(in, dir) == NULL) return;
    dir_length = strlen(dir);
    trace = fopen(to, "w");
    // A process that the workload starts must not write into the same file.
    unsetenv("SAYSO_RECORD_TO");
}

__attribute__((destructor)) static void finish(void) {
    if (trace != NULL) fclose(trace);
}

static void record(uint8_t kind, uint64_t inode, uint64_t offset, const void *bytes, uint32_t length) {
    fwrite(&kind, 1, 1, trace);
    fwrite(&inode, 8, 1, trace);
    fwrite(&offset, 8, 1, trace);
    fwrite(&length, 4, 1, trace);
    fwrite(bytes, 1, length, trace);
}

// The name of a path in the directory, or NULL.
static const char *name_in_dir(const char *path) {
    if (trace == NULL || strncmp(path, dir, dir_length) != 0 || path[dir_length] != '/') return NULL;
    return path + dir_length + 1;
}

// The inode of an open file in the directory, or 0. The directory itself sets `is_dir`.
static uint64_t inode_of(int file, int *is_dir) {
    if (trace == NULL) return 0;
    char link[64], path[4096];
    struct stat found;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    *is_dir = strcmp(path, dir) == 0;
    if (!*is_dir && name_in_dir(path) == NULL) return 0;
    return fstat(file, &found) == 0 ? found.st_ino : 0;
}

static int open_and_record(const char *path, int flags, mode_t mode) {
    static __typeof__(&open) real;
    if (real == NULL) real = REAL(open);
    const char *name = name_in_dir(path);
    if (name == NULL || (flags & (O_CREAT | O_TRUNC)) == 0) return real(path, flags, mode);
    pthread_mutex_lock(&lock);
    struct stat found;
    int existed = stat(path, &found) == 0;
    int file = real(path, flags, mode);
    int error = errno;
    if (file >= 0 && fstat(file, &found) == 0) {
        if (!existed) record(CREATE, found.st_ino, 0, name, strlen(name));
        else if (flags & O_TRUNC) record(TRUNCATE, found.st_ino, 0, "", 0);
    }
    pthread_mutex_unlock(&lock);
    errno = error;
    return file;
}

#define OPEN(name)                                          \
    int name(const char *path, int flags, ...) {            \
        va_list more;                                       \
        va_start(more, flags);                              \
        mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0; \
        va_end(more);                                       \
        return open_and_record(path, flags, mode);          \
    }
OPEN(open)
OPEN(open64)

#define PWRITE(name)                                                                    \
    ssize_t name(int file, const void *bytes, size_t length, off_t offset) {            \
        static __typeof__(&name) real;                                                  \
        if (real == NULL) real = REAL(name);                                            \
        int is_dir;                                                                     \
        uint64_t inode = inode_of(file, &is_dir);                                       \
        if (inode == 0) return real(file, bytes, length, offset);                       \
        pthread_mutex_lock(&lock);                                                      \
        ssize_t written = real(file, bytes, length, offset);                            \
        int error = errno;                                                              \
        if (written > 0) record(WRITE, inode, offset, bytes, written);                  \
        pthread_mutex_unlock(&lock);                                                    \
        errno = error;                                                                  \
        return written;                                                                 \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t write(int file, const void *bytes, size_t length) {
    static __typeof__(&write) real;
    if (real == NULL) real = REAL(write);
    int is_dir;
    uint64_t inode = inode_of(file, &is_dir);
    if (inode == 0) return real(file, bytes, length);
    pthread_mutex_lock(&lock);
    off_t offset = lseek(file, 0, SEEK_CUR);
    ssize_t written = real(file, bytes, length);
    int error = errno;
    if (written > 0) record(WRITE, inode, offset, bytes, written);
    pthread_mutex_unlock(&lock);
    errno = error;
    return written;
}

// A call that changes or syncs an open file.
#define ON_FILE(name, parameters, arguments, kind, offset)              \
    int name parameters {                                               \
        static __typeof__(&name) real;                                  \
        if (real == NULL) real = REAL(name);                            \
        int is_dir;                                                     \
        uint64_t inode = inode_of(file, &is_dir);                       \
        if (inode == 0) return real arguments;                          \
        pthread_mutex_lock(&lock);                                      \
        int result = real arguments;                                    \
        int error = errno;                                              \
        if (result == 0) record(kind, inode, offset, "", 0);            \
        pthread_mutex_unlock(&lock);                                    \
        errno = error;                                                  \
        return result;                                                  \
    }
ON_FILE(ftruncate, (int file, off_t length), (file, length), TRUNCATE, length)
ON_FILE(ftruncate64, (int file, off64_t length), (file, length), TRUNCATE, length)
ON_FILE(fsync, (int file), (file), is_dir ? SYNC_DIR : SYNC, 0)
ON_FILE(fdatasync, (int file), (file), is_dir ? SYNC_DIR : SYNC, 0)

static void record_names(uint8_t kind, const char *from, const char *to) {
    char names[8192];
    int length = snprintf(names, sizeof names, "%s\n%s", from, to);
    record(kind, 0, 0, names, length);
}

// A call that changes names.
#define ON_NAMES(name, parameters, arguments, kind)                      \
    int name parameters {                                                \
        static __typeof__(&name) real;                                   \
        if (real == NULL) real = REAL(name);                             \
        const char *first = name_in_dir(from), *second = name_in_dir(to); \
        if (first == NULL || second == NULL) return real arguments;      \
        pthread_mutex_lock(&lock);                                       \
        int result = real arguments;                                     \
        int error = errno;                                               \
        if (result == 0) record_names(kind, first, second);              \
        pthread_mutex_unlock(&lock);                                     \
        errno = error;                                                   \
        return result;                                                   \
    }
ON_NAMES(rename, (const char *from, const char *to), (from, to), RENAME)
ON_NAMES(link, (const char *from, const char *to), (from, to), LINK)
ON_NAMES(linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags), LINK)

int unlink(const char *path) {
    static __typeof__(&unlink) real;
    if (real == NULL) real = REAL(unlink);
    const char *name = name_in_dir(path);
    if (name == NULL) return real(path);
    pthread_mutex_lock(&lock);
    int result = real(path);
    int error = errno;
    if (result == 0) record(UNLINK, 0, 0, name, strlen(name));
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
