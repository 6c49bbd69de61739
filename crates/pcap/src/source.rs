//! The octets of a capture file, read in large pieces and parsed in the buffer.

use std::io::{self, Cursor, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

/// Octets read at once.
const CHUNK: usize = 1 << 20;

/// A file (or pipe), with the part of it that is being parsed in memory.
pub struct Source {
    reader: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    /// The octets at hand: `buffer[start..end]`.
    start: usize,
    end: usize,
    /// Octets consumed so far.
    consumed: u64,
    over: bool,
    /// For a compressed file: octets read of it; and whether decompression failed.
    packed: Option<Arc<AtomicU64>>,
    damaged: bool,
}

/// A reader that counts the octets read.
struct Counted<R> {
    reader: R,
    octets: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let octets = self.reader.read(buffer)?;
        self.octets.fetch_add(octets as u64, Ordering::Relaxed);
        Ok(octets)
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Source(at {})", self.consumed)
    }
}

impl Source {
    /// Reads from `reader`.
    pub fn new(reader: Box<dyn Read + Send>) -> Self {
        Self {
            reader,
            buffer: vec![0; CHUNK],
            start: 0,
            end: 0,
            consumed: 0,
            over: false,
            packed: None,
            damaged: false,
        }
    }

    /// The source of the decompressed octets of a gzip file, of one member or several. Nothing may have been consumed before.
    pub fn unpacked(self) -> Self {
        let octets = Arc::new(AtomicU64::new(0));
        let begun = Cursor::new(self.buffer[self.start..self.end].to_vec());
        let reader = Counted { reader: begun.chain(self.reader), octets: octets.clone() };
        Self { packed: Some(octets), ..Self::new(Box::new(MultiGzDecoder::new(reader))) }
    }

    /// Octets of the file read so far, to report progress.
    pub fn read(&self) -> u64 {
        self.packed.as_ref().map_or(self.consumed, |octets| octets.load(Ordering::Relaxed))
    }

    /// Reading ended because decompression failed.
    pub fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// Octets consumed so far: the position of the present record, for messages.
    pub fn position(&self) -> u64 {
        self.consumed
    }

    /// At least `n` octets are at hand; false if the file ends before.
    #[inline]
    pub fn has(&mut self, n: usize) -> io::Result<bool> {
        if self.end - self.start >= n {
            return Ok(true);
        }
        self.fill(n)
    }

    #[cold]
    fn fill(&mut self, n: usize) -> io::Result<bool> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if n > self.buffer.len() {
            self.buffer.resize(n.next_multiple_of(CHUNK), 0);
        }
        while self.end < n && !self.over {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.over = true,
                Ok(more) => self.end += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // What was decompressed before the damage is still used.
                Err(error) if self.packed.is_some() && is_damage(error.kind()) => {
                    (self.over, self.damaged) = (true, true)
                }
                Err(error) => return Err(error),
            }
        }
        Ok(self.end >= n)
    }

    /// The octets at hand; call [`Source::has`] first.
    #[inline]
    pub fn peek(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Skips `n` octets, or to the end of the file; returns whether they were all there.
    pub fn skip(&mut self, mut n: u64) -> io::Result<bool> {
        loop {
            let here = ((self.end - self.start) as u64).min(n);
            self.start += here as usize;
            self.consumed += here;
            n -= here;
            if n == 0 {
                return Ok(true);
            }
            if !self.has(1)? {
                return Ok(false);
            }
        }
    }

    /// Consumes `n` octets, which must be at hand.
    #[inline]
    pub fn consume(&mut self, n: usize) {
        self.start += n;
        self.consumed += n as u64;
    }
}

/// The error is about the compressed octets, not about reading the file.
fn is_damage(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::UnexpectedEof | ErrorKind::InvalidInput | ErrorKind::InvalidData)
}
