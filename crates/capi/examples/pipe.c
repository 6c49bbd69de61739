/* Two hosts in one program, two paths with delay and loss, 10 MB compared octet by octet.
 *
 * The engine has neither sockets nor a clock, so this program brings them: each path is a queue that
 * delays packets, and time jumps from event to event.
 *
 *     cc -std=c11 pipe.c $(pkg-config --cflags --libs anabranch) -o pipe && ./pipe
 */
#include <anabranch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE 10000000u
#define ROOM 2048u

static void check(int code, const char *what)
{
    if (code < 0) {
        fprintf(stderr, "%s: %s\n", what, anabranch_last_error());
        exit(1);
    }
}

/* A packet under way. */
struct packet {
    uint64_t at;
    int to; /* 0: to the client */
    size_t len;
    uint8_t octets[ROOM];
    struct packet *next;
};

/* Packets in the order of their arrival, and how many were sent. */
static struct packet *first_packet;
static unsigned sent, lost;

/* Octet number `i` of the message: any function will do. */
static uint8_t octet(uint64_t i)
{
    return (uint8_t)(i * i / 255u);
}

static struct anabranch_address address(uint8_t path, uint8_t host, uint16_t port)
{
    struct anabranch_address a = {.family = 4, .port = port, .octets = {10, path, 0, host}};
    return a;
}

/* Takes what the host has to send. Path 10.1 takes 10 ms, path 10.2 30 ms; every 100th packet is lost. */
static void transmit(struct anabranch_host *host, int from, uint64_t now)
{
    for (;;) {
        struct packet *p = malloc(sizeof *p);
        if (!p) {
            exit(1);
        }
        p->len = ROOM;
        int code = anabranch_poll_packet(host, now, p->octets, &p->len);
        check(code, "poll_packet");
        if (code == ANABRANCH_NOTHING || ++sent % 100 == 0) {
            lost += code != ANABRANCH_NOTHING;
            free(p);
            if (code == ANABRANCH_NOTHING) {
                return;
            }
            continue;
        }
        /* The second octet of the source address names the path. */
        p->at = now + (p->octets[13] == 1 ? 10000000u : 30000000u);
        p->to = !from;
        struct packet **place = &first_packet;
        while (*place && (*place)->at <= p->at) {
            place = &(*place)->next;
        }
        p->next = *place;
        *place = p;
    }
}

static struct anabranch_host *make_host(uint8_t secret)
{
    struct anabranch_host_options options = {.size = sizeof options};
    memset(options.secret, secret, sizeof options.secret);
    struct anabranch_host *host;
    check(anabranch_host_new(&options, &host), "host_new");
    return host;
}

int main(void)
{
    struct anabranch_config *config;
    check(anabranch_config_new("scheduler = 'min-rtt'\ncontroller = 'coupled'", &config), "config_new");
    struct anabranch_host *hosts[2] = {make_host(1), make_host(2)};
    struct anabranch_host *client = hosts[0], *server = hosts[1];
    check(anabranch_listen(server, 80, config, 0), "listen");

    struct anabranch_tuple path1 = {address(1, 1, 50000), address(1, 2, 80)};
    struct anabranch_tuple path2 = {address(2, 1, 50001), address(2, 2, 80)};
    uint64_t now = 0, connection;
    check(anabranch_connect(client, now, &path1, config, &connection), "connect");

    uint8_t *message = malloc(MESSAGE);
    if (!message) {
        return 1;
    }
    for (uint64_t i = 0; i < MESSAGE; i++) {
        message[i] = octet(i);
    }
    uint64_t written = 0, received = 0, by_subflow[2] = {0, 0};
    int writable = 1, over = 0;
    while (!over) {
        /* The applications. */
        struct anabranch_event event = {.size = sizeof event};
        while (anabranch_poll_event(client, &event) == ANABRANCH_OK) {
            switch (event.kind) {
            case ANABRANCH_EVENT_WRITABLE:
                writable = 1;
                break;
            case ANABRANCH_EVENT_JOINS_POSSIBLE: {
                uint32_t subflow;
                check(anabranch_open_subflow(client, connection, &path2, 0, &subflow), "open_subflow");
                break;
            }
            case ANABRANCH_EVENT_CLOSED:
                over = 1;
                break;
            case ANABRANCH_EVENT_ABORTED:
                fprintf(stderr, "the connection failed\n");
                return 1;
            default:
                break;
            }
        }
        if (writable && written < MESSAGE) {
            size_t taken;
            check(anabranch_write(client, connection, message + written, MESSAGE - written, &taken), "write");
            written += taken;
            writable = 0;
            if (written == MESSAGE) {
                check(anabranch_shutdown_write(client, connection), "shutdown_write");
            }
        }
        while (anabranch_poll_event(server, &event) == ANABRANCH_OK) {
            uint8_t some[4096];
            size_t n;
            while (anabranch_read(server, event.connection, some, sizeof some, &n) == ANABRANCH_OK && n > 0) {
                for (size_t i = 0; i < n; i++) {
                    if (some[i] != message[received + i]) {
                        fprintf(stderr, "octet %llu is another\n", (unsigned long long)(received + i));
                        return 1;
                    }
                }
                received += n;
            }
            if (event.kind == ANABRANCH_EVENT_END_OF_STREAM) {
                check(anabranch_shutdown_write(server, event.connection), "shutdown_write");
            }
        }
        for (uint32_t i = 0; i < 2; i++) {
            struct anabranch_subflow_info info = {.size = sizeof info};
            if (anabranch_subflow_state(client, now, connection, i, &info) == ANABRANCH_OK) {
                by_subflow[i] = info.octets_acked;
            }
        }

        /* What the hosts have to send goes out; then the next thing happens. */
        transmit(client, 0, now);
        transmit(server, 1, now);
        uint64_t next = first_packet ? first_packet->at : UINT64_MAX;
        for (int side = 0; side < 2; side++) {
            uint64_t at;
            if (anabranch_poll_timeout(hosts[side], &at) == ANABRANCH_OK && at < next) {
                next = at;
            }
        }
        if (next == UINT64_MAX) {
            break;
        }
        now = next > now ? next : now;
        if (first_packet && first_packet->at == now) {
            struct packet *p = first_packet;
            first_packet = p->next;
            check(anabranch_handle_packet(hosts[p->to], now, p->octets, p->len), "handle_packet");
            free(p);
        }
        check(anabranch_handle_timeout(client, now), "handle_timeout");
        check(anabranch_handle_timeout(server, now), "handle_timeout");
    }
    printf("%llu octets arrived as they were sent, %llu and %llu over the two subflows, %u of %u packets lost, in %.3f s\n",
           (unsigned long long)received, (unsigned long long)by_subflow[0], (unsigned long long)by_subflow[1], lost,
           sent, (double)now / 1e9);
    while (first_packet) {
        struct packet *p = first_packet;
        first_packet = p->next;
        free(p);
    }
    free(message);
    anabranch_host_free(client);
    anabranch_host_free(server);
    anabranch_config_free(config);
    return received == MESSAGE && by_subflow[0] > 0 && by_subflow[1] > 0 ? 0 : 1;
}
