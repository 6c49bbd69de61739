//! Where a station is: at rest, on a straight line, or along waypoints.
//!
//! Positions are points of a plane in metres. Between waypoints a station moves at constant speed, also from its start to the
//! first; at the last it stays.

use libm::hypot;

/// A point in metres.
pub type Point = [f64; 2];

/// A movement.
#[derive(Clone, Debug, PartialEq)]
pub struct Movement {
    /// Where it is at first.
    pub start: Point,
    /// How it goes on.
    pub course: Course,
}

/// How a station moves.
#[derive(Clone, Debug, PartialEq)]
pub enum Course {
    /// Not at all.
    Rest,
    /// At this velocity, in m/s along each axis, from the beginning on.
    Velocity(Point),
    /// Along waypoints: times in ns and places, in order of time.
    Waypoints(Vec<(u64, Point)>),
}

impl Movement {
    /// At rest.
    pub fn at_rest(start: Point) -> Self {
        Self { start, course: Course::Rest }
    }

    /// It never moves.
    pub fn rests(&self) -> bool {
        self.course == Course::Rest
    }

    /// Where it is at `now` (ns).
    pub fn at(&self, now: u64) -> Point {
        match &self.course {
            Course::Rest => self.start,
            Course::Velocity(v) => {
                let seconds = now as f64 / 1e9;
                [self.start[0] + v[0] * seconds, self.start[1] + v[1] * seconds]
            }
            Course::Waypoints(points) => {
                let next = points.partition_point(|(at, _)| *at <= now);
                let (since, from) = if next == 0 { (0, self.start) } else { points[next - 1] };
                let Some(&(until, to)) = points.get(next) else { return from };
                let part = (now - since) as f64 / (until - since) as f64;
                [from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part]
            }
        }
    }
}

/// Distance of two points in metres.
pub fn distance(a: Point, b: Point) -> f64 {
    hypot(a[0] - b[0], a[1] - b[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_velocity_is_metres_a_second() {
        let m = Movement { start: [10.0, 0.0], course: Course::Velocity([1.5, -2.0]) };
        assert_eq!(m.at(0), [10.0, 0.0]);
        assert_eq!(m.at(4 * S), [16.0, -8.0]);
        assert_eq!(distance(m.at(4 * S), [16.0, 0.0]), 8.0);
    }

    /// 10 m until 10 s (on the way from 0 m), 30 m at 20 s, then rest.
    #[test]
    fn waypoints_are_joined_by_even_motion() {
        let m = Movement {
            start: [0.0, 0.0],
            course: Course::Waypoints(vec![(10 * S, [10.0, 0.0]), (20 * S, [30.0, 0.0])]),
        };
        assert_eq!(m.at(5 * S), [5.0, 0.0]);
        assert_eq!(m.at(10 * S), [10.0, 0.0]);
        assert_eq!(m.at(15 * S), [20.0, 0.0]);
        assert_eq!(m.at(99 * S), [30.0, 0.0]);
    }
}
