//! What `anabranch list` shows of a registered algorithm.

/// One registered controller, recovery or scheduler.
#[derive(Debug)]
pub struct Entry<T: 'static> {
    /// Its name in scenarios.
    pub name: &'static str,
    /// One line: what it does.
    pub summary: &'static str,
    /// The RFC or paper it follows.
    pub source: &'static str,
    /// What it needs from the connection ("" if nothing): options, timestamps.
    pub needs: &'static str,
    /// How it was validated.
    pub validated: &'static str,
    /// Makes a fresh instance.
    pub make: T,
}

/// The entry called `name`.
pub fn find<T>(registry: &'static [Entry<T>], name: &str) -> Option<&'static Entry<T>> {
    registry.iter().find(|e| e.name == name)
}
