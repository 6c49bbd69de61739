"""The detector `rfc6675`: three duplicates (RFC 6675 with SACK, RFC 6582 without)."""

import anabranch as ab

DUP_THRESH = 3


class Rfc6675(ab.Detector):
    """A segment is lost after three SACKed segments above it, or three duplicate acknowledgements."""

    source = "RFC 6675 with SACK, RFC 6582 (NewReno) without SACK"

    def on_ack(self, ack, board, sender):
        """Mark what IsLost of RFC 6675 4 holds for."""
        if sender.sack:
            board.update_lost((DUP_THRESH - 1) * sender.mss, DUP_THRESH)

    def ignores_progress(self):
        """It keeps no state."""
        return True

    def finding(self, ack, board, sender):
        """Find a loss (RFC 6675 5 (1), (2); without SACK RFC 5681 3.2 step 2, RFC 6582 3.2 step 2)."""
        enough = sender.duplicates >= DUP_THRESH
        missing = enough or board.front_is_lost() if sender.sack else enough and ack.snd_una > sender.recover
        return "loss" if ack.duplicate and missing else "nothing"

    def on_timeout(self, now, board, sender):
        """Mark everything that is not SACKed."""
        board.mark_all_lost()

    def limited_transmit(self, duplicates):
        """Send one new segment for each of the first two duplicates (RFC 3042 2)."""
        return min(duplicates, DUP_THRESH - 1)
