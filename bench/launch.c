// Runs a program in a network namespace, and reports what it took.
//
//     launch NETNS REPORT SECONDS [-i INTERFACE -b BYTES [-t FD TEXT]] -- PROGRAM [ARGUMENT…]
//
// NETNS and REPORT are descriptors: the namespace, and where a line of JSON goes at the end. After
// SECONDS the program is killed, with all of its process group. Once INTERFACE has received BYTES,
// it is killed too; with -t, TEXT is written to FD instead. A small program in C, because the peak
// memory of a child counts from its birth, as a copy of its parent.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

// Bytes that an interface of this namespace has received; -1 when there is none of this name.
static long long received(const char *interface) {
    FILE *file = fopen("/proc/self/net/dev", "re");
    char line[512], name[32];
    long long bytes, found = -1;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, " %31[^:]: %lld", name, &bytes) == 2 && !strcmp(name, interface)) found = bytes;
    if (file) fclose(file);
    return found;
}

static volatile pid_t program;
static void on_end(int number) {
    if (program > 0) kill(-program, SIGKILL);
    _exit(128 + number);
}

int main(int count, char **words) {
    const char *interface = NULL, *text = NULL;
    long long bytes = -1;
    int option, tell = -1;
    if (count < 6) return 64;
    int namespace = atoi(words[1]), report = atoi(words[2]);
    double limit = atof(words[3]);
    optind = 4;
    while ((option = getopt(count, words, "+i:b:t:")) != -1) {
        if (option == 'i') interface = optarg;
        else if (option == 'b') bytes = atoll(optarg);
        else if (option == 't' && optind < count) tell = atoi(optarg), text = words[optind++];
        else return 64;
    }
    if (optind >= count) return 64;
    if (setns(namespace, CLONE_NEWNET)) {
        perror("setns");
        return 1;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    signal(SIGTERM, on_end);
    signal(SIGINT, on_end);

    long long first = interface ? received(interface) : 0;
    double begun = now();
    program = fork();
    if (program == 0) {
        setpgid(0, 0);
        for (int inherited = 3; inherited < 64; inherited++) close(inherited);
        execvp(words[optind], words + optind);
        perror(words[optind]);
        _exit(127);
    }
    setpgid(program, program);
    int ended = (int)syscall(SYS_pidfd_open, program, 0);
    bool late = false, reached = !interface;
    for (;;) {
        double left = begun + limit - now();
        if (left <= 0 && !late) {
            late = true;
            kill(-program, SIGKILL);
        }
        struct pollfd polled = {ended, POLLIN, 0};
        if (poll(&polled, 1, reached ? (late ? 1000 : (int)(left * 1000) + 1) : 5) > 0) break;
        if (!reached && received(interface) - first >= bytes) {
            reached = true;
            if (tell < 0) kill(-program, SIGKILL);
            else dprintf(tell, "%s\n", text);
        }
    }
    int status;
    struct rusage usage;
    while (wait4(program, &status, 0, &usage) < 0 && errno == EINTR) continue;
    double wall = now() - begun;
    // What it has left behind in the background takes part no longer.
    kill(-program, SIGKILL);
    dprintf(report,
            "{\"wall\":%.4f,\"cpu\":%.4f,\"peak\":%lld,\"status\":%d,\"late\":%s,\"reached\":%s,\"received\":%lld}\n",
            wall, seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss * 1024LL,
            WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), late ? "true" : "false",
            interface && reached ? "true" : "false", interface ? received(interface) - first : -1);
    return 0;
}
