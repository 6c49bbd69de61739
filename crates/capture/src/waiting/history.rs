//! Round-trip times over time, in a bounded number of cells: the longer the capture, the wider they are.

/// Cells at most.
const CELLS: usize = 512;
/// Width of a cell in the beginning, nanoseconds.
const WIDTH: u64 = 10_000_000;

/// The sum of the values that came in a cell, and how many.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    sum: f64,
    count: u64,
}

/// Means over time.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// When the first cell begins.
    pub began: u64,
    /// Width of a cell, nanoseconds; 0 before the first value.
    pub width: u64,
    cells: Vec<Cell>,
}

impl History {
    /// `value` was measured at `now`.
    pub fn add(&mut self, now: u64, value: u64) {
        if self.width == 0 {
            (self.began, self.width) = (now, WIDTH);
        }
        let after = now.saturating_sub(self.began);
        while after / self.width >= CELLS as u64 {
            self.widen();
        }
        let place = (after / self.width) as usize;
        if place >= self.cells.len() {
            self.cells.resize(place + 1, Cell::default());
        }
        let cell = &mut self.cells[place];
        *cell = Cell { sum: cell.sum + value as f64, count: cell.count + 1 };
    }

    /// Two cells become one.
    fn widen(&mut self) {
        let pairs = self.cells.chunks(2);
        let whole = |pair: &[Cell]| Cell {
            sum: pair.iter().map(|cell| cell.sum).sum(),
            count: pair.iter().map(|cell| cell.count).sum(),
        };
        self.cells = pairs.map(whole).collect();
        self.width *= 2;
    }

    /// The mean of each cell; `None` where nothing was measured.
    pub fn means(&self) -> impl Iterator<Item = Option<f64>> {
        self.cells.iter().map(|cell| (cell.count > 0).then(|| cell.sum / cell.count as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_grow_with_the_capture_and_keep_its_means() {
        let mut history = History::default();
        assert_eq!(history.means().count(), 0);
        history.add(5 * WIDTH, 10);
        history.add(5 * WIDTH + 1, 20);
        history.add(7 * WIDTH, 40);
        assert_eq!(history.means().collect::<Vec<_>>(), [Some(15.0), None, Some(40.0)]);
        // The cell with this number is the first beyond the last: all become twice as wide.
        history.add((5 + CELLS as u64) * WIDTH, 7);
        assert_eq!((history.began, history.width), (5 * WIDTH, 2 * WIDTH));
        let means: Vec<_> = history.means().collect();
        assert_eq!(means.len(), CELLS / 2 + 1);
        assert_eq!((means[0], means[1], means[CELLS / 2]), (Some(15.0), Some(40.0), Some(7.0)));
    }

    /// Damaged clocks give any round trip.
    #[test]
    fn a_sum_of_the_largest_values_does_not_overflow() {
        let mut history = History::default();
        (0..3).for_each(|_| history.add(0, u64::MAX));
        assert_eq!(history.means().flatten().collect::<Vec<_>>(), [u64::MAX as f64]);
    }

    #[test]
    fn a_value_far_away_is_kept_in_as_few_cells() {
        let mut history = History::default();
        history.add(0, 1);
        history.add(u64::MAX / 2, 3);
        assert!(history.means().count() <= CELLS);
        assert_eq!(history.means().flatten().collect::<Vec<_>>(), [1.0, 3.0]);
    }
}
