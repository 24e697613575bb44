// Emulates a link between two TAP devices: delay, rate, queue, random loss and outages.
//
//     link SERVER_NS CLIENT_NS delay-ms rate-mbit queue-bytes loss
//
// The first two are descriptors of network namespaces; a TAP device `link0` appears in each. All
// numbers hold for either direction: `delay-ms` is one way, `rate-mbit` in 10^6 bits a second of
// whole frames, `loss` the share of frames that are lost, 0 to 1. What a full queue does not take
// is dropped. Nothing is reordered. Prints `ready`, then obeys lines on standard input:
//
//     seed N        loses the same frames again, as far as the same are sent
//     down S        drops everything for S seconds, what is on its way included
//     forget S      the same, and afterwards still each packet of a TCP connection from before, as
//                   a NAT does that has lost its table: silently
//
// Ends when standard input does.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { FRAME = 2048, BATCH = 64 };
static const int64_t SECOND = 1000000000;

struct frame {
    int64_t due;  // when it arrives, in nanoseconds of the monotonic clock
    uint32_t length;
    uint8_t bytes[FRAME];
};

struct direction {
    int from, to;  // TAP devices
    bool from_client;
    struct frame *frames;  // a ring
    size_t capacity, first, count;
    int64_t free_at;  // when the last frame of the queue has left it
    uint64_t random;
};

static double rate;  // bits a nanosecond
static int64_t delay, queue;  // nanoseconds, bytes
static double loss;

// TCP connections by the client's port: seen, and forgotten by the link.
static bool seen[65536], forgotten[65536];

static void die(const char *what) {
    perror(what);
    exit(1);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

// 0 to 1, by xorshift64*: Marsaglia, "Xorshift RNGs"; Vigna, arXiv:1402.6246.
static double random_share(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)(*state * 0x2545F4914F6CDD1DULL >> 11) / 9007199254740992.0;
}

static void seed(struct direction directions[2], uint64_t number) {
    for (int i = 0; i < 2; i++) {
        directions[i].random = (number * 2 + (uint64_t)i + 1) * 0x9E3779B97F4A7C15ULL;
        for (int skipped = 0; skipped < 16; skipped++) random_share(&directions[i].random);
    }
}

static int open_tap(int namespace) {
    if (setns(namespace, CLONE_NEWNET)) die("setns");
    int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (tap < 0) die("/dev/net/tun");
    // Without a header in front of frames the kernel cuts segments before they come here.
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI, .ifr_name = "link0"};
    if (ioctl(tap, TUNSETIFF, &request)) die("TUNSETIFF");
    return tap;
}

// Whether the link has forgotten the connection of this frame.
static bool is_forgotten(const uint8_t *frame, size_t length, bool from_client) {
    const uint8_t *ip = frame + 14;
    if (length < 54 || frame[12] != 0x08 || frame[13] != 0x00 || ip[9] != 6) return false;
    size_t header = (ip[0] & 15) * 4u;
    if (14 + header + 20 > length) return false;
    const uint8_t *tcp = ip + header;
    unsigned port = from_client ? tcp[0] << 8 | tcp[1] : tcp[2] << 8 | tcp[3];
    bool opens = from_client && (tcp[13] & 0x12) == 0x02;  // SYN without ACK
    if (opens) forgotten[port] = false;
    seen[port] = true;
    return forgotten[port];
}

// Takes what has come to one end. A frame leaves the queue when all before it have, at the rate.
static void take(struct direction *way, bool down) {
    static struct frame spare;
    for (int i = 0; i < BATCH; i++) {
        bool full = way->count == way->capacity;
        struct frame *frame = full ? &spare : &way->frames[(way->first + way->count) % way->capacity];
        ssize_t length = read(way->from, frame->bytes, FRAME);
        if (length <= 0) return;
        if (is_forgotten(frame->bytes, (size_t)length, way->from_client) || down || full) continue;
        int64_t time = now();
        int64_t start = way->free_at > time ? way->free_at : time;
        if ((double)(start - time) * rate / 8 + (double)length > (double)queue) continue;
        way->free_at = start + (int64_t)((double)length * 8 / rate);
        // What is lost has been sent: it takes its time in the queue.
        if (loss > 0 && random_share(&way->random) < loss) continue;
        frame->due = way->free_at + delay;
        frame->length = (uint32_t)length;
        way->count++;
    }
}

// Hands over what has arrived.
static void deliver(struct direction *way) {
    int64_t time = now();
    while (way->count && way->frames[way->first].due <= time) {
        const struct frame *frame = &way->frames[way->first];
        // A device that is not up yet takes nothing: lost, as on a cable.
        if (write(way->to, frame->bytes, frame->length) < 0 && errno != EIO && errno != EAGAIN) die("write");
        way->first = (way->first + 1) % way->capacity;
        way->count--;
    }
}

int main(int count, char **words) {
    if (count != 7) return 64;
    int server = open_tap(atoi(words[1])), client = open_tap(atoi(words[2]));
    delay = (int64_t)(atof(words[3]) * 1e6);
    rate = atof(words[4]) / 1e3;
    queue = atoll(words[5]);
    loss = atof(words[6]);
    struct direction directions[2] = {
        {.from = server, .to = client},
        {.from = client, .to = server, .from_client = true},
    };
    seed(directions, 1);
    for (int i = 0; i < 2; i++) {
        // Full frames for all of the time that one can be here, and room for as many small ones.
        double bytes = (double)queue + (double)delay * rate / 8;
        directions[i].capacity = (size_t)(bytes / 1514 * 2) + 4096;
        directions[i].frames = calloc(directions[i].capacity, sizeof(struct frame));
        if (!directions[i].frames) die("calloc");
    }
    // On time also when the machine is busy; as root only, and no matter if not.
    prctl(PR_SET_TIMERSLACK, 20000UL);
    setpriority(PRIO_PROCESS, 0, -20);
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    puts("ready");
    fflush(stdout);

    int64_t up_at = 0;  // not 0: down until then
    bool forget = false;
    for (;;) {
        int64_t time = now(), next = time + SECOND;
        if (up_at && time >= up_at) {
            up_at = 0;
            if (forget) memcpy(forgotten, seen, sizeof forgotten);
        }
        if (up_at && up_at < next) next = up_at;
        for (int i = 0; i < 2; i++) {
            const struct direction *way = &directions[i];
            if (way->count && way->frames[way->first].due < next) next = way->frames[way->first].due;
        }
        // Never shorter than 0.1 ms: frames go in small bunches, at a tenth of the CPU time.
        int64_t pause = next - time <= 0 ? 0 : next - time < 100000 ? 100000 : next - time;
        struct timespec wait = {pause / SECOND, pause % SECOND};
        struct pollfd polled[3] = {{server, POLLIN, 0}, {client, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
        if (ppoll(polled, 3, &wait, NULL) < 0 && errno != EINTR) die("ppoll");
        if (polled[2].revents) {
            char text[512], word[16];
            ssize_t length = read(STDIN_FILENO, text, sizeof text - 1);
            if (length == 0) return 0;
            text[length > 0 ? length : 0] = 0;
            double number;
            for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
                if (sscanf(line, "%15s %lf", word, &number) != 2) continue;
                if (!strcmp(word, "seed")) {
                    seed(directions, (uint64_t)number);
                    continue;
                }
                forget = !strcmp(word, "forget");
                up_at = now() + (int64_t)(number * 1e9);
                directions[0].count = directions[1].count = 0;
                directions[0].free_at = directions[1].free_at = 0;
            }
        }
        for (int i = 0; i < 2; i++) {
            take(&directions[i], up_at != 0);
            deliver(&directions[i]);
        }
    }
}
