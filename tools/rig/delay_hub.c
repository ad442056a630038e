/* A hub that delays packets between network namespaces and records what it did.
 *
 * Every host is a namespace with a TUN device. The hub never sleeps: it polls the devices, holds every packet for the
 * delay of its direction, and writes it to the device of its receiver. It measures each delay from the read to the end
 * of the write, so its record contains its own lateness.
 *
 * Commands on standard input, one per line; the hub answers every command with one line on standard output.
 *   host NAME NAMESPACE ADDRESS
 *   link FROM TO base_us jitter_median_us jitter_sigma spike_probability spike_scale_us spike_shape spike_cap_us rate_mbit_s queue_kb
 *   reset                       forget the record
 *   report FROM TO              the record since the last reset, as a line of JSON
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { HOSTS = 8, SLOTS = 4096, BURST = 16, BINS = 200000, HEADER = sizeof(struct virtio_net_hdr), MTU = 65536 };
static const double NS_PER_BIN = 100; /* histograms reach from 0 to 20 ms in steps of 0.1 µs */

typedef struct {
    uint64_t due, arrived;
    uint32_t length;
    unsigned char *bytes;
} Packet;

typedef struct {
    uint64_t count;
    double sum_ns;
    uint32_t bins[BINS];
} Record;

typedef struct {
    double base_us, jitter_median_us, jitter_sigma, spike_probability, spike_scale_us, spike_shape, spike_cap_us;
    double rate_mbit_s, queue_kb;
    Packet slots[SLOTS];
    unsigned first, after_last;
    uint64_t last_due, line_free, dropped, last_delay_ns;
    double late_ns;
    Record one_way, round_trip; /* round_trip: a packet of this direction and the next packet of the way back */
} Link;

typedef struct {
    char name[32];
    uint32_t address;
    int device;
} Host;

static Host hosts[HOSTS];
static Link *links[HOSTS][HOSTS];
static int host_count;
static uint64_t random_state[2] = {0x9E3779B97F4A7C15ull, 0xD1B54A32D192ED03ull};

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* xorshift128+, a number between 0 and 1, both excluded */
static double uniform(void) {
    uint64_t a = random_state[0], b = random_state[1];
    random_state[0] = b;
    a ^= a << 23;
    random_state[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
    return (double)(((random_state[1] + b) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void) { return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform()); }

static double delay_us(const Link *link) {
    double delay = link->base_us;
    if (link->jitter_median_us > 0) delay += link->jitter_median_us * exp(link->jitter_sigma * normal());
    if (link->spike_probability > 0 && uniform() < link->spike_probability)
        delay += fmin(link->spike_cap_us, link->spike_scale_us * pow(uniform(), -1 / link->spike_shape));
    return delay;
}

static void add(Record *record, double ns) {
    int bin = (int)(ns / NS_PER_BIN);
    record->count++;
    record->sum_ns += ns;
    record->bins[bin < BINS ? bin : BINS - 1]++;
}

/* Order statistic of a record in µs, interpolated within its bin; 0 without values. */
static double quantile_us(const Record *record, double level) {
    double wanted = level * (double)record->count, seen = 0;
    for (int bin = 0; bin < BINS; bin++) {
        if (record->bins[bin] && seen + record->bins[bin] >= wanted)
            return (bin + (wanted - seen) / record->bins[bin]) * NS_PER_BIN / 1e3;
        seen += record->bins[bin];
    }
    return 0;
}

static int find_host(const char *name) {
    for (int i = 0; i < host_count; i++)
        if (!strcmp(hosts[i].name, name)) return i;
    return -1;
}

/* Create the device az0 inside a namespace and return its handle, which works from any namespace. */
static int open_device(const char *namespace) {
    char path[64];
    int home = open("/proc/self/ns/net", O_RDONLY), device = -1, away;
    struct ifreq request = {.ifr_name = "az0", .ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR};
    snprintf(path, sizeof path, "/run/netns/%s", namespace);
    if ((away = open(path, O_RDONLY)) >= 0 && !setns(away, CLONE_NEWNET)) {
        device = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
        if (device >= 0 && (ioctl(device, TUNSETIFF, &request) || ioctl(device, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4)))
            device = -1;
        if (setns(home, CLONE_NEWNET)) exit(1);
    }
    close(away);
    close(home);
    return device;
}

static void report(int from, int to) {
    const Link *there = links[from][to], *back = links[to][from];
    const Record *trip = &there->round_trip;
    printf("{\"round_trips\": %lu, \"median_us\": %.2f, \"mean_us\": %.2f, \"p90_us\": %.2f, \"p99_us\": %.2f, "
           "\"forward_median_us\": %.2f, \"backward_median_us\": %.2f, \"late_mean_us\": %.2f, \"dropped\": %lu}\n",
           trip->count, quantile_us(trip, .5), trip->count ? trip->sum_ns / (double)trip->count / 1e3 : 0,
           quantile_us(trip, .9), quantile_us(trip, .99), quantile_us(&there->one_way, .5), quantile_us(&back->one_way, .5),
           there->one_way.count ? there->late_ns / (double)there->one_way.count / 1e3 : 0, there->dropped + back->dropped);
}

static void reset(void) {
    for (int i = 0; i < host_count; i++)
        for (int j = 0; j < host_count; j++) {
            Link *link = links[i][j];
            if (!link) continue;
            memset(&link->one_way, 0, sizeof link->one_way);
            memset(&link->round_trip, 0, sizeof link->round_trip);
            link->late_ns = 0;
            link->dropped = link->last_delay_ns = 0;
        }
}

static const char *command(const char *line) {
    char a[32], b[32], c[32];
    double v[9];
    if (sscanf(line, "host %31s %31s %31s", a, b, c) == 3) {
        if (host_count == HOSTS) return "too many hosts";
        Host *host = &hosts[host_count];
        strcpy(host->name, a);
        if (inet_pton(AF_INET, c, &host->address) != 1) return "not an address";
        if ((host->device = open_device(b)) < 0) return strerror(errno);
        host_count++;
        return "done";
    }
    if (sscanf(line, "link %31s %31s %lf %lf %lf %lf %lf %lf %lf %lf %lf", a, b, v, v + 1, v + 2, v + 3, v + 4, v + 5,
               v + 6, v + 7, v + 8) == 11) {
        int from = find_host(a), to = find_host(b);
        if (from < 0 || to < 0) return "unknown host";
        if (!links[from][to] && !(links[from][to] = calloc(1, sizeof(Link)))) return "no memory";
        memcpy(links[from][to], v, sizeof v);
        return "done";
    }
    if (!strncmp(line, "reset", 5)) {
        reset();
        return "done";
    }
    if (sscanf(line, "report %31s %31s", a, b) == 2) {
        int from = find_host(a), to = find_host(b);
        if (from < 0 || to < 0 || !links[from][to] || !links[to][from]) return "unknown link";
        report(from, to);
        return NULL;
    }
    return "unknown command";
}

/* Read commands without waiting; return 0 when the input ends. */
static int read_commands(void) {
    static char text[512];
    static size_t length;
    ssize_t got = read(0, text + length, sizeof text - 1 - length);
    if (got == 0) return 0;
    if (got < 0) return 1;
    length += (size_t)got;
    for (char *end; (end = memchr(text, '\n', length)); ) {
        *end = 0;
        const char *answer = command(text);
        if (answer) puts(answer);
        fflush(stdout);
        length -= (size_t)(end + 1 - text);
        memmove(text, end + 1, length);
    }
    return 1;
}

static void take(int from, unsigned char *bytes, ssize_t length) {
    uint64_t t = now_ns();
    uint32_t address;
    int to = -1;
    if ((bytes[HEADER] >> 4) != 4) return;
    memcpy(&address, bytes + HEADER + 16, 4);
    for (int k = 0; k < host_count; k++)
        if (hosts[k].address == address) to = k;
    Link *link = to < 0 ? NULL : links[from][to];
    if (!link) return;
    if (link->line_free < t) link->line_free = t;
    double queued_kb = (double)(link->line_free - t) * link->rate_mbit_s / 8e3 / 1024;
    if (link->after_last - link->first >= SLOTS || queued_kb > link->queue_kb) {
        link->dropped++;
        return;
    }
    link->line_free += (uint64_t)((double)(length - HEADER) * 8e3 / link->rate_mbit_s);
    uint64_t due = link->line_free + (uint64_t)(delay_us(link) * 1e3);
    if (due < link->last_due) due = link->last_due; /* keep the order */
    link->last_due = due;
    Packet *packet = &link->slots[link->after_last++ % SLOTS];
    packet->bytes = memcpy(malloc((size_t)length), bytes, (size_t)length);
    packet->length = (uint32_t)length;
    packet->due = due;
    packet->arrived = t;
}

static void deliver(int from, int to) {
    Link *link = links[from][to], *back = links[to][from];
    while (link->first != link->after_last) {
        Packet *packet = &link->slots[link->first % SLOTS];
        if (packet->due > now_ns()) return;
        if (write(hosts[to].device, packet->bytes, packet->length) < 0) link->dropped++;
        uint64_t t = now_ns(), delay = t - packet->arrived;
        add(&link->one_way, (double)delay);
        link->late_ns += (double)(t - packet->due);
        link->last_delay_ns = delay;
        if (back && back->last_delay_ns) { /* this packet answers one of the other direction */
            add(&back->round_trip, (double)(delay + back->last_delay_ns));
        }
        free(packet->bytes);
        link->first++;
    }
}

int main(void) {
    static unsigned char bytes[MTU + HEADER];
    fcntl(0, F_SETFL, O_NONBLOCK);
    mlockall(MCL_CURRENT | MCL_FUTURE);
    puts("ready");
    fflush(stdout);
    for (unsigned turn = 0; turn % 4096 || read_commands(); turn++) {
        for (int i = 0; i < host_count; i++)
            for (int burst = 0; burst < BURST; burst++) {
                ssize_t length = read(hosts[i].device, bytes, sizeof bytes);
                if (length <= HEADER + 20) break;
                take(i, bytes, length);
            }
        for (int i = 0; i < host_count; i++)
            for (int j = 0; j < host_count; j++)
                if (links[i][j]) deliver(i, j);
    }
    return 0;
}
