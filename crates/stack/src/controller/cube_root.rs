//! The cube root, which CUBIC and its counterpart in Linux need.

/// Cube root by Newton's method: the same result on every platform.
pub(super) fn cube_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let mut y = x.max(1.0);
    loop {
        let next = (2.0 * y + x / (y * y)) / 3.0;
        if next >= y {
            return y;
        }
        y = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_roots() {
        for x in [0.001, 0.5, 1.0, 2.0, 27.0, 1e6] {
            let y = cube_root(x);
            assert!((y * y * y / x - 1.0).abs() < 1e-12, "{x} {y}");
        }
    }
}
