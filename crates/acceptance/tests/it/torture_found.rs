//! What `anabranch torture` has found, made smaller: each of these broke an invariant before it was mended.

use anabranch_sim::scenario::parse;
use anabranch_torture::examine;

use crate::support::summary;

fn holds(scenarios: &[&str]) {
    for text in scenarios {
        let scenario = parse(text, "found", &[], None).unwrap();
        examine(&scenario, false, None).unwrap_or_else(|finding| panic!("{finding}\n{text}"));
    }
}

/// A box makes requests longer, so the server had more of them than were asked.
#[test]
fn a_server_answers_no_more_than_was_asked_for() {
    holds(&[
        "transfer = { page = { objects = 1, bytes = '1 B' }, request = '1 B' }
         path = [{ middleboxes = ['alter-length'] }]
         connection = { protocol = 'tcp' }",
        "transfer = { ladder = ['1 bit/s'], count = 1, request = '1 B' }
         path = [{ middleboxes = ['strip-mptcp-syn', 'alter-length'] }]",
    ]);
}

/// A box makes a request longer, so that the answer comes while the rest of the request waits for room in the send buffer.
#[test]
fn who_has_closed_asks_for_nothing_more() {
    holds(&[
        "transfer = { page = { objects = 1, bytes = '1 B' } }
         path = [{ middleboxes = ['drop-unknown-options', 'alter-length'] }]
         connection = { send_buffer = '1 B' }",
        "transfer = { page = { objects = 1, bytes = '1 B' } }
         path = [{ middleboxes = ['alter-length'] }]
         connection = { send_buffer = '1 B', protocol = 'tcp' }",
    ]);
}

/// RFC 8684 3.7: both directions altered, and MP_FAILs lost where a queue holds one packet: octets came twice. Likewise when a join
/// that is refused meanwhile lets data be reinjected, and where Linux's DATA_FIN leaves no room for MP_FAIL.
#[test]
fn a_fallback_in_both_directions_delivers_once() {
    holds(&[
        "transfer = { bytes = '1 B', direction = 'both' }
         path = [{ queue = '1 packets', middleboxes = ['alter-payload'] }]
         connection = { checksum = true }",
        "transfer = { bytes = '1 B', direction = 'both' }
         path = [{ middleboxes = ['alter-payload'] }, { delay = '1 us' }]
         connection = { checksum = true }",
        "transfer = { bytes = '1 B', direction = 'both' }
         path = [{ middleboxes = ['alter-length'] }]
         connection = { checksum = true, profile = 'linux' }",
    ]);
}

/// RFC 9293 3.1: REMOVE_ADDR beside timestamps and the DATA_FIN that Linux repeats.
#[test]
fn signals_fit_beside_what_linux_repeats() {
    holds(&["transfer = { bytes = '1 B', direction = 'both' }
         path = [{ delay = '24928 us' }, {}]
         [connection]
         profile = 'linux-6.1'
         path_changes = [{ at = '99836 us', path = 1, action = 'remove' }]"]);
}

/// RFC 9293 3.8.6.2.2: where the buffer tunes itself, two readers told each other of windows that did not open.
#[test]
fn window_updates_have_an_end() {
    holds(&[
        "transfer = { on = '671 us', off = '106053 us', bytes = '1787 B', direction = 'both' }
         path = [{ rate = '216839 kbit/s', delay = '1 us' }]
         connection = { mss = 2, receive_initial = '1 B' }",
        "transfer = { bytes = '98827 B', direction = 'both' }
         path = [{}, {}]
         connection = { receive_initial = '7 B', send_buffer = '978 B' }",
    ]);
}

/// RFC 8684 3.3.6: what had waited for another subflow, where there is none, kept the data timer from running.
#[test]
fn the_only_subflow_takes_what_waited_for_another() {
    holds(&["seed = 383342699688972288
         transfer = { bytes = '3 B' }
         path = [{ wifi = { standard = '802.11n', reference_loss = '49.0 dB', fading = 'rayleigh', rts_threshold = '1 B',
             ampdu_limit = '1 B' } }, {}, {}, {}]
         connection = { profile = 'classic', send_buffer = '1 B' }"]);
}

/// RFC 8684 3.3.6, 3.3.8: likewise where the only other subflow is a backup, which carries nothing while the regular one works.
#[test]
fn a_backup_is_no_way_for_what_waits_while_a_regular_subflow_works() {
    holds(&["seed = 4484845761272184320
         transfer = { message = { name = 'uniform', min = '1 B', max = '1 B' }, count = 14, direction = 'down',
             interval = { name = 'pareto', min = '1 us', alpha = 1.1598982610002948 } }
         path = [{ queue = '0 packets', loss = '3.7379 %' }, {}]
         [connection]
         send_buffer = '1 B'
         min_rto = '1 us'
         sack = false
         path_changes = [{ at = '0 s', path = 1, action = 'backup' }]"]);
}

/// RFC 8684 3.3.6: under coupled acknowledgement what a subflow that ended has left to another stood behind that one's own data, and when
/// it was lost there nobody sent it again.
#[test]
fn the_head_of_the_line_is_sent_again_behind_other_data() {
    holds(&["duration = '1 h'
         transfer = { bytes = '84848 B' }
         path = [{ loss = '6.9224 %' }, {}, { delay_down = '1 us', changes = [{ at = '1 us', rate = '57 kbit/s' }] }]
         [connection]
         acknowledgement = 'coupled'
         path_changes = [{ at = '587401 us', path = 2, action = 'remove', by = 'server' }]"]);
}

/// RFC 7323 2.3: all that a buffer kept back was less than one unit of the window field, and the field showed a closed window for ever.
#[test]
fn what_is_kept_back_of_one_unit_does_not_close_the_window() {
    holds(&[
        "duration = '1 h'
         transfer = { bytes = '99 B' }
         path = [{}]
         connection = { profile = 'linux-6.1', mss = 3, receive_initial = '1 B' }",
        "duration = '1 h'
         transfer = { bytes = '500 B' }
         path = [{}]
         connection = { acknowledge_on_read = true, mss = 9, receive_initial = '1 B' }",
    ]);
}

/// Wi-Fi from 802.11n on: packets longer than any PPDU, a back-off that began before its frame was given up, and datagrams that
/// arrive together.
#[test]
fn wireless_links_hand_on_what_they_have() {
    holds(&[
        "transfer = { bytes = '9812 B' }
         path = [{ wifi = { standard = '802.11n', mcs = 1 } }]
         connection = { mss = 14348 }",
        "transfer = { bytes = '96677 B', direction = 'down' }
         path = [{ wifi = { standard = '802.11ac', category = 'voice' } }]
         connection = { protocol = 'udp' }",
        "transfer = { bytes = '2351 B' }
         path = [{ preset = 'wifi6' }]
         connection = { protocol = 'udp' }",
    ]);
}

/// Bounds that were too narrow: copies of copies, each acknowledged (RFC 9293 3.10.7.4); frames that ns-3 sends again until their lifetime is
/// over; what a source has written before its peer's window of one octet lets it go; copies behind a subflow's hole, where another moves
/// the window on; 32 kB five times a second behind an optimist, as Linux repeats it.
#[test]
fn much_may_be_caused_by_little() {
    holds(&[
        "duration = '1 h'
         topology = { kind = 'fat-tree', k = 2, delay = '125239 us', duplication = '35.6910 %', mtu_down = '180 B' }
         traffic = { pattern = 'incast' }
         transfer = { bytes = '13873 B' }
         connection = { detector = 'ncr', max_rto = '1041232 us' }",
        "duration = '1 h'
         transfer = { bytes = '1 B' }
         path = [{ wifi = { standard = '802.11ac', rts_threshold = '1 B', category = 'voice', like = 'ns-3' } }]",
        "duration = '1 h'
         transfer = { duration = '1 us' }
         path = [{}]
         connection = { scheduler = 'delay-estimating', receive_buffer = '1 B' }",
        "duration = '1 h'
         topology = { kind = 'fat-tree', k = 2, loss = '5.9489 %' }
         traffic = { pattern = 'permutation' }
         transfer = { bytes = '130822 B' }
         connection = { controller = 'bbr', scheduler = 'duplicate', receive_buffer = '15866 B' }",
        "duration = '1 min'
         transfer = { bytes = '800 kB' }
         path = [{ rate = '2 Mbit/s', mtu_up = '243 B', middleboxes = ['optimistic-acks'] }]
         connection = { profile = 'linux-6.1', delayed_ack = 'off' }",
    ]);
}

/// An on-off source that cannot write looked at the clock for each segment that was due: here each 3 us of an hour.
#[test]
fn a_source_that_cannot_write_waits_for_room() {
    holds(&["duration = '1 h'
         transfer = { on = '241739 us', off = '28034 us', rate = '2444 kbit/s', bytes = '90 kB' }
         path = [{ delay = '1 us' }]
         [connection]
         mss = 1
         path_changes = [{ at = '0 s', path = 0, action = 'remove', by = 'server' }]"]);
}

/// A subflow that was given up was what the data-level timer waited for: the timer was due at once, and the same call did not run it.
#[test]
fn the_data_timer_runs_when_the_last_subflow_with_data_is_given_up() {
    holds(&["duration = '1 h'
         transfer = { bytes = '238565 B' }
         path = [{ middleboxes = [{ kind = 'optimistic-acks', until = '75546 us' }] }, {}]"]);
}

/// RFC 8684 3.7: under coupled acknowledgement data were delivered, and acknowledged at data level, whose checksum had failed.
#[test]
fn failed_data_are_not_delivered_under_coupled_acknowledgement() {
    holds(&["transfer = { bytes = '1 B' }
         path = [{ queue = '0 packets', middleboxes = ['alter-length'] }, {}]
         connection = { profile = 'linux', acknowledgement = 'coupled', checksum = true }"]);
}

/// RFC 8684 3.7: failed data that came again elsewhere on their subflow counted as octets of plain TCP, which neither host had become.
#[test]
fn failed_data_have_one_place() {
    holds(&["transfer = { bytes = '1 B' }
         path = [{ queue = '0 packets', middleboxes = ['alter-payload'] }, {}]
         connection = { checksum = true }"]);
}

/// RFC 7323 2.3, RFC 9293 3.8.6.2.2: of a window that is less than one unit of its field the peer sees nothing. A small buffer that tunes
/// itself, under the scale of an unlimited one, was probed an octet at a time.
#[test]
fn a_window_below_one_unit_of_its_field_is_opened() {
    holds(&["duration = '1 h'
         transfer = { request = '604 B', response = '1 B', count = 20 }
         path = [{}]
         connection = { receive_buffer = 'unlimited', receive_initial = '47 B', protocol = 'tcp' }"]);
}

/// RFC 8684 3.7: "an ACK is received for data (not just for the SYN) without a DSS option": the host falls back though an optimist has
/// acknowledged the data before. It sent them again at another place, to a peer that was plain TCP.
#[test]
fn an_acknowledgement_without_a_data_ack_counts_after_an_optimists() {
    holds(&["duration = '1 h'
         transfer = { bytes = '1 B', direction = 'down' }
         path = [{ duplication = '22.9636 %', middleboxes = [{ kind = 'optimistic-acks', end = 'far' }, 'strip-mptcp-data'] }]"]);
}

/// RFC 9293 3.8.6.1: the octet that probes the window was lost with its path, and a further one probed on another.
#[test]
fn one_octet_beyond_the_window_is_enough_for_all_subflows() {
    holds(&["duration = '1 h'
         transfer = { bytes = '58 B' }
         path = [
             { delay_up = '10774 us' },
             { changes = [{ at = '1 us', loss = { good_to_bad = '4.7885 %', bad_to_good = '33.38 %' } }] },
             { loss = { good_to_bad = '3.2705 %', bad_to_good = '22.81 %' } },
         ]
         connection = { acknowledgement = 'coupled', receive_buffer = '1 B' }"]);
}

/// A link that fails while the packet goes on at the old rate, and works again at the new one, carried more than it could.
#[test]
fn a_link_that_failed_in_a_transmission_goes_on_at_its_new_rate() {
    holds(&["duration = '1 h'
         transfer = { bytes = '2685 B' }
         [[path]]
         rate = '10 kbit/s'
         changes = [
             { at = '152647 us', rate = '15 kbit/s' },
             { at = '215532 us', state = 'down' },
             { at = '217343 us', state = 'up' },
         ]"]);
}

/// RFC 8684 3.7: options are lost in one direction, in the middle of a transfer both ways. The server, whose data are acknowledged without a
/// DATA_ACK, falls back when it has none left to carry the infinite mapping; the client sent data again elsewhere on the subflow, and they
/// were delivered there once more.
#[test]
fn a_fallback_that_the_peer_has_not_heard_of_delivers_nothing_twice() {
    holds(&[
        "duration = '1 h'
         transfer = { bytes = '50 kB', direction = 'both' }
         path = [{ rate = '100 kbit/s', middleboxes = [{ kind = 'strip-mptcp', direction = 'up', at = '54085 us' }] }]",
    ]);
}

/// A checksum fails in both directions, and the server's MP_FAIL is lost. The server falls back at the client's; the client, which waits, had
/// assigned octets to the subflow that were not sent, and probed the window with one behind them, where they were to go (RFC 8684 3.7). In the
/// second, what a host holds until the answer to its MP_FAIL comes counted as a fault, though it was never delivered.
#[test]
fn what_leaves_behind_an_mp_fail_continues_what_was_sent() {
    holds(&[
        "duration = '1 h'
         path = [{ queue = '0 packets', middleboxes = ['alter-payload'] }]
         connection = [
             { transfer = { bytes = '1 B' } },
             { scheduler = 'linux', mss = 60, receive_initial = '1 B', checksum = true, transfer = { bytes = '211 B', direction = 'both' } },
         ]",
        "duration = '1 h'
         transfer = { bytes = '2 B' }
         path = [{ queue_down = '0 packets', middleboxes = [{ kind = 'strip-mptcp-data', at = '25237 us' }, 'alter-payload'] }, {}]
         connection = { send_buffer = '1 B', checksum = true }",
    ]);
}

/// With checksums over two paths, octets of which a box has taken some wait for the rest of their mapping; the other path brings them all, and
/// those of the box counted as delivered.
#[test]
fn altered_octets_that_another_path_replaces_do_not_count() {
    holds(&["duration = '1 h'
         transfer = { bytes = '71 B' }
         path = [{ middleboxes = [{ kind = 'alter-length', grow = -52 }] }, {}]
         connection = { checksum = true }"]);
}

/// What was sent in the nanosecond in which a transfer ended, for pieces of its last segment, and octets of a box that a checksum rejected,
/// were called faults of the accounts.
#[test]
fn accounts_agree_with_the_trace_beside_boxes() {
    holds(&[
        "duration = '1 h'
         transfer = { bytes = '22819 B', direction = 'both' }
         path = [{}, { delay = '1 us', queue_up = '1 packets', middleboxes = ['split'] }]
         connection = { scheduler = 'remp', mss = 15290 }",
        "duration = '1 h'
         transfer = { message = { name = 'exponential', mean = '3 B' }, interval = '1 us', count = 2, direction = 'down' }
         path = [{ middleboxes = ['alter-length'] }, { delay = '0 ms' }]
         connection = { checksum = true }",
    ]);
}

/// RFC 8684 3.7: both hosts reject the first data by its checksum, and the server's MP_FAIL is lost. The client, whose own MP_FAIL has arrived,
/// sent the head of the line again behind a window probe; the server, which had fallen back, took it for the stream's next octets.
#[test]
fn whoever_has_sent_mp_fail_sends_nothing_a_second_time() {
    holds(&["duration = '1 h'
         host = [{ name = 'client' }, { name = 'server' }]
         router = [{ name = 'r0' }, { name = 'r1' }]
         [[link]]
         name = 'access0'
         from = 'client'
         to = 'r0'
         [[link]]
         name = 'access1'
         from = 'client'
         to = 'r0'
         [[link]]
         name = 'core'
         from = 'r0'
         to = 'r1'
         [[link]]
         name = 'last'
         from = 'r1'
         to = 'server'
         queue = '0 packets'
         middleboxes = ['alter-payload']
         [[connection]]
         client = 'client'
         server = 'server'
         controller = 'bbr'
         receive_initial = '1 B'
         checksum = true
         transfer = { bytes = '132 B', direction = 'both' }"]);
}

/// A box acknowledges data before the peer has them, and another one takes the options from then on: the subflow's acknowledgement came with
/// a DATA_ACK of nothing, and did not show that options pass (RFC 8684 3.7). The peer was plain TCP, and was given the same octet again and again.
#[test]
fn a_data_ack_of_nothing_does_not_show_that_options_pass() {
    holds(&["duration = '1 h'
         host = [{ name = 'client' }, { name = 'server' }]
         router = [{ name = 'r0' }, { name = 'r1' }]
         connection = [{ fast_open = true, client = 'client', server = 'server', transfer = { bytes = '1 B', direction = 'both' } }]
         link = [{ name = 'access', from = 'client', to = 'r0' }, { name = 'core', delay_up = '0 ms', from = 'r0', to = 'r1' },
           { name = 'last', rate = '28663 kbit/s', delay = '1 us', from = 'r1', to = 'server', middleboxes = ['optimistic-acks', { kind = 'strip-mptcp-data', at = '11560 us' }] }]"]);
}

/// A box makes the client's octet longer than the server's window, and so moves all that the client sends later beyond it: only a retransmission
/// acknowledged the server's window probe, and told of no window. The server took the octet beyond the window for outstanding, and slept.
#[test]
fn a_probe_acknowledged_by_a_retransmission_was_within_the_window() {
    holds(&["duration = '1 h'
         transfer = { on = '1 us', off = '1 us', bytes = '6 B', direction = 'both' }
         path = [{ middleboxes = [{ kind = 'alter-length', direction = 'up' }] }]
         connection = { receive_buffer = '1 B', checksum = true }"]);
}

/// The first segment's options are those of MP_CAPABLE with data, which acknowledge nothing at data level; its later pieces have none.
#[test]
fn the_pieces_of_the_first_segment_are_no_sign_of_lost_options() {
    holds(&["duration = '1 h'
         transfer = { request = '1 B', response = '3 B' }
         path = [{ middleboxes = [{ kind = 'split', size = '1 B', options = 'first' }] }]"]);
}

/// A box joins segments and keeps the options of the first. What follows that one's mapping was mapped already, by its own segment, so all was
/// taken at once, with one sum for both: the mapping's own checksum could never be verified, and nothing came of this subflow any more.
#[test]
fn joined_segments_whose_second_half_is_known_are_verified() {
    let run = summary(
        "transfer = { bytes = '500 kB' }
         path = [{ delay = '0 ms', middleboxes = ['coalesce'] }, {}, {}]
         [connection]
         controller = 'balia'
         judge = 'linux'
         scheduler = 'otias'
         receive_buffer = '85501 B'
         send_buffer = '81191 B'
         min_rto = '1005 us'
         stale_after = 8
         sack = false
         delayed_ack = '497 us'
         defer_bursts = true
         dsn_octets = 4
         checksum = true",
        &[],
    );
    assert_eq!(run["status"], "completed", "{run}");
}

/// The first segment is cut into pieces, of which some are held when the rest of it is sent again in one: its sum could not be told from
/// theirs, so that real octets failed the checksum where octets known by their places passed.
#[test]
fn a_retransmission_over_held_pieces_is_verified() {
    let text = "duration = '1 h'
         transfer = { bytes = '30884 B' }
         path = [{ discipline_up = { name = 'red' }, middleboxes = [{ kind = 'split', until = '67254 us', size = '3 B' }] }]
         connection = { receive_buffer = '73971 B', receive_initial = 'full', initial_rto = '56039 us', checksum = true }";
    let real = summary(&format!("bytes = true\n{text}"), &[]);
    assert_eq!(real["trace_sha256"], summary(text, &[])["trace_sha256"]);
}

/// Both ends have ended their data and miss some of the peer's, and all of Linux's acknowledgements carry the DATA_FIN: each was answered as
/// a repeated one, by one that carried it as well, and a duplicate of one began a second exchange.
#[test]
fn repeated_data_fins_are_no_war() {
    let run = summary(
        "duration = '1 h'
         path = [{ rate = '84 kbit/s', delay = '198105 us' },
           { delay = '2246 us', duplication_up = '20.6069 %', changes = [{ at = '1 us', rate = '45264 kbit/s' }] }]
         transfer = { bytes = '18536 B', direction = 'both' }
         connection = { profile = 'linux', invalid_ack_interval = '0 us' }",
        &[],
    );
    assert_eq!(run["status"], "completed", "{run}");
    assert!(run["events"].as_u64() < Some(2000), "{run}");
}

/// The first of two pieces of the first segment is too long for a link, and what is sent again is cut otherwise: it overlaps the second
/// piece. The sum of what is new in it cannot be told from octets; from references to them, it was.
#[test]
fn pieces_that_overlap_are_verified_alike_with_octets_and_without() {
    let text = "duration = '1 h'
         host = [{ name = 'client' }, { name = 'server' }]
         router = [{ name = 'r0' }, { name = 'r1' }]
         link = [{ name = 'access', from = 'client', to = 'r0' }, { name = 'core', from = 'r0', to = 'r1', middleboxes = ['split'] },
           { name = 'last', from = 'r1', to = 'server', mtu = '476 B' }]
         connection = [{ checksum = true, client = 'client', server = 'server', transfer = { bytes = '803 B' } }]";
    let real = summary(&format!("bytes = true\n{text}"), &[]);
    assert_eq!(real["trace_sha256"], summary(text, &[])["trace_sha256"]);
    assert_eq!((&real["status"], &real["content_ok"]), (&"completed".into(), &true.into()), "{real}");
}

/// RFC 8684 3.7: the client's first data came without a mapping, and it is plain TCP. The server, whose data a box has acknowledged on a
/// segment that carries the keys, sent them again at another place, and they were delivered twice.
#[test]
fn a_peer_that_may_be_plain_is_sent_nothing_twice() {
    holds(&["seed = 4573702715658775552
         duration = '1 h'
         host = [{ name = 'client' }, { name = 'server' }]
         router = [{ name = 'r0' }, { name = 'r1' }]
         link = [{ name = 'access0', from = 'client', to = 'r0', delay = '24711 us', delay_variation = 0.777159 },
           { name = 'core', from = 'r0', to = 'r1', delay_up = '114865 us' },
           { name = 'last', from = 'r1', to = 'server', rate = '139 kbit/s', middleboxes = ['optimistic-acks', 'strip-mptcp-data'] }]
         connection = [
           { client = 'client', server = 'server', stale_after = 1, transfer = { bytes = '1 B', direction = 'down', start_spread = '1 us' } },
           { client = 'client', server = 'server', transfer = { bytes = '134 B', direction = 'down' } },
           { protocol = 'udp', client = 'client', server = 'server', transfer = { bytes = '17127 B', rate = '1734 kbit/s', direction = 'down' } }]"]);
}

/// The server speaks first, and the client's first data carries the keys: that it acknowledges the server's without a DATA_ACK says nothing.
#[test]
fn first_data_that_acknowledges_some_is_no_fallback() {
    holds(&["duration = '1 h'
         path = [{ queue = '0 packets', middleboxes = ['strip-sack'] }]
         transfer = { request = '1 B', response = '2390 B' }
         connection = { stale_after = 1 }"]);
}

/// A tail loss probe of new data was not told to the scheduler, which had the same octets sent again behind it, on the only subflow; the
/// peer was plain TCP by then.
#[test]
fn a_scheduler_knows_of_new_data_in_a_tail_probe() {
    holds(&["duration = '1 h'
         path = [{}, {}, { delay = '0 ms', middleboxes = [{ kind = 'strip-mptcp-data', direction = 'down' }] }]
         connection = [{ scheduler = 'remp', paths = ['path2'],
           transfer = { ladder = ['82314 bit/s'], segment = '513647 us', count = 1 } }]"]);
}

/// A box takes octets out and a mapping counts those that follow in their stead, so that DATA_ACKs stay behind what a subflow acknowledges:
/// a probe of the window left before what was missing, and was refused until that had come, each few milliseconds for as long as the run.
#[test]
fn no_probe_stands_before_what_is_missing() {
    let run = summary(
        "duration = '20 s'
         path = [{ middleboxes = [{ kind = 'alter-length', grow = -86 }] }, { delay = '1 us' }]
         transfer = { bytes = '6456 B' }
         connection = { receive_buffer = '91 B', min_rto = '3316 us' }",
        &[],
    );
    assert_eq!(run["status"], "completed", "{run}");
    holds(&["duration = '1 h'
         path = [{ middleboxes = [{ kind = 'alter-length', every = '1 B', grow = -36 }] }]
         transfer = { bytes = '462 B' }
         connection = { receive_buffer = '45 B' }"]);
}

/// Coupled acknowledgement: data moved from another subflow that had come before what precedes them in the stream stood behind data that wait
/// for them, and nothing was acknowledged any more. Likewise what Linux's timer sends again, between other data.
#[test]
fn moved_data_are_taken_once_they_are_next_in_the_stream() {
    holds(&[
        "seed = 182719862262089728
         duration = '1 h'
         path = [{ delay_variation = 0.599496, overtaking = true }, { loss = 0.1401, name = 'way-1' }]
         transfer = { message = '1 B', interval = '14725 us', count = 11 }
         connection = { scheduler = 'load-balancing', acknowledgement = 'coupled', nagle = false, judge = { name = 'door', t1 = 1000.0 },
           path_changes = [{ at = '206743 us', path = 1, action = 'remove' }] }",
        "seed = 1402539966510695936
         duration = '1 h'
         path = [{ delay = '65838 us', loss = 0.052403, name = 'way-0' }, {}]
         transfer = { message = '16448 B', count = 8, direction = 'down', interval = { name = 'uniform', min = '1 us', max = '1 us' } }
         connection = { scheduler = 'linux', acknowledgement = 'coupled', initial_window = 3, stale_after = 1, pacing = true, fast_open = 'no-cookie' }",
    ]);
}

/// RFC 9293 3.8.6.1: the intervals of probes grow. Over Multipath TCP each answer made them short again, as its window field, which counts from
/// the DATA_ACK, was not zero: 39,000 rows of a trace, where 200 are enough.
#[test]
fn intervals_of_probes_grow_though_the_window_counts_from_the_data_ack() {
    holds(&["duration = '1 h'
         path = [{}, { changes = [{ at = '91443 us', state = 'down' }] }]
         transfer = { bytes = '7 B', direction = 'both' }
         connection = { acknowledgement = 'coupled', receive_buffer = '1 B', min_rto = '1 us' }"]);
}

/// Bounds of events that were too narrow: where DATA_ACKs stay behind by a whole buffer each octet is a segment; and over Wi-Fi from 802.11n on
/// what nobody answers is asked about as long as it lives.
#[test]
fn events_that_are_to_be_expected() {
    holds(&[
        "duration = '1 h'
         path = [{ middleboxes = [{ kind = 'alter-length', every = '1 B', grow = -32 }] }]
         transfer = { bytes = '172099 B' }
         connection = { send_buffer = '2977 B' }",
        "duration = '10 s'
         path = [{ wifi = { standard = '802.11ac', distance = '87.1 m', preamble_detection = false, category = 'voice' } }]
         connection = [{ initial_rto = '1 us', transfer = { on = '1 us', off = '6657 us', bytes = '1 B' } }, { transfer = { bytes = '1 B' } }]",
    ]);
}

/// RFC 8684 3.3.1: a box joins segments and keeps the last one's options. The mapping of one that was not taken stood for the next octets and its
/// checksum did not, so that nothing behind them was ever delivered. And where the next octets come without a mapping several round trips in
/// a row while others arrive, the peer repeats them alone in the end.
#[test]
fn what_a_box_joins_comes_again_alone() {
    holds(&[
        "duration = '1 h'
         path = [{ }, { middleboxes = [{ kind = 'coalesce', options = 'last' }] }]
         connection = { profile = 'linux-6.1', checksum = true, paths = ['path1'] }
         transfer = { message = '8010 B', interval = '1 us', count = 2 }",
        "duration = '1 h'
         transfer = { bytes = '24957 B' }
         path = [{ middleboxes = [{ kind = 'coalesce', options = 'last' }, 'split'] }]",
    ]);
}

/// RFC 9293 3.8.6.1: a box acknowledges a window probe, the connection falls back to TCP with the acknowledgement, and nothing that comes later is
/// acceptable (another box has changed lengths). The window is closed behind the probe, and the next octet probes it.
#[test]
fn a_window_is_probed_after_a_fallback_that_acknowledges_a_probe() {
    holds(&["seed = 3216821499604814848
         duration = '1 h'
         host = [{ name = 'client' }, { name = 'server' }]
         router = [{ name = 'r0' }, { name = 'r1' }]
         link = [
             { name = 'access0', from = 'client', to = 'r0', loss_down = { good_to_bad = '3.6119 %', bad_to_good = '74.35 %' } },
             { name = 'access1', from = 'client', to = 'server' },
             { name = 'core', from = 'r0', to = 'r1', middleboxes = ['optimistic-acks'] },
             { name = 'last', from = 'r1', to = 'server', loss = '7.7576 %', middleboxes = ['alter-length'] },
         ]
         [[connection]]
         profile = 'linux-6.1'
         receive_buffer = '1 B'
         checksum = true
         client = 'client'
         server = 'server'
         transfer = { bytes = '4 B', direction = 'both' }"]);
}

/// RFC 8684 3.3.2, 3.4.2: data that were lost with an address that was withdrawn are sent again when nothing is in flight any more, also if what
/// was in flight last goes with another address, and no segment arrives after that.
#[test]
fn data_are_sent_again_after_the_last_address_with_data_in_flight_has_gone() {
    holds(&["seed = 4247912772967308800
         duration = '1 h'
         path = [
             { delay_down = '200101 us', loss = '2.8024 %' },
             { changes = [{ at = '610150 us', state = 'down' }] },
             { },
         ]
         transfer = { bytes = '144115 B' }
         [connection]
         detector = 'reordering-degree'
         scheduler = 'linux'
         controller = 'balia'
         path_changes = [{ at = '6054694 us', path = 1, action = 'remove' }, { at = '991530 us', path = 2, action = 'remove' }]"]);
}

/// RFC 8684 3.7: options are lost from the first data on, in one direction, and a box has acknowledged those data before their receiver. The
/// server is plain TCP, a join is under way: the client falls back, too, and sends no octet a second time.
#[test]
fn a_client_falls_back_while_a_join_is_under_way() {
    holds(&["duration = '1 h'
         path = [
             { delay = '1456 us', middleboxes = [{ kind = 'strip-mptcp', direction = 'up', at = '3912 us' }, 'optimistic-acks'] },
             { },
         ]
         transfer = { request = '1 B', response = '1 B' }"]);
}

/// RFC 8684 3.3.1: a box cuts every mapping in three, and more mappings than the receiver lets wait
/// have come behind a lost one. The one that is missing is taken.
#[test]
fn a_lost_mapping_is_taken_however_many_have_come_behind_it() {
    holds(&["duration = '1 h'
         path = [{ delay = '1041 us', queue = '438 packets', middleboxes = ['split'] }]
         transfer = { bytes = '3363376 B', direction = 'down' }
         connection = { checksum = true }"]);
}
