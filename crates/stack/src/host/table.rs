//! Maps 4-tuples to subflows.
//!
//! [`Tuples`] belongs to one connection and is indexed by subflow; [`Table`] belongs to a host and is indexed by 4-tuple. What a
//! 4-tuple consists of is open: addresses and ports, or the numbers of a simulator.

use std::collections::BTreeMap;

use crate::event::SubflowId;

/// The 4-tuples of a connection's subflows.
#[derive(Clone, Debug)]
pub struct Tuples<T>(Vec<T>);

impl<T> Default for Tuples<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy + PartialEq> Tuples<T> {
    /// Records that `subflow` has `tuple`. If the subflow reuses the number of a failed join, returns the 4-tuple of that join.
    pub fn bind(&mut self, subflow: SubflowId, tuple: T) -> Option<T> {
        if let Some(before) = self.0.get_mut(subflow) {
            return Some(std::mem::replace(before, tuple));
        }
        debug_assert_eq!(subflow, self.0.len(), "subflows are numbered in order of opening");
        self.0.push(tuple);
        None
    }

    /// The 4-tuple of `subflow`.
    #[inline]
    pub fn of(&self, subflow: SubflowId) -> T {
        self.0[subflow]
    }

    /// Whether `subflow` still has `tuple`, not a newer one.
    #[inline]
    pub fn is(&self, subflow: SubflowId, tuple: T) -> bool {
        self.0.get(subflow) == Some(&tuple)
    }

    /// All 4-tuples, by subflow.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }
}

/// The 4-tuples of a host, with the connection and subflow of each.
#[derive(Clone, Debug)]
pub struct Table<T, C>(BTreeMap<T, (C, SubflowId)>);

impl<T: Ord, C> Default for Table<T, C> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Ord, C: Copy + PartialEq> Table<T, C> {
    /// Records that `tuple` is `subflow` of `connection`.
    pub fn insert(&mut self, tuple: T, connection: C, subflow: SubflowId) {
        self.0.insert(tuple, (connection, subflow));
    }

    /// The connection and subflow that have `tuple`.
    pub fn find(&self, tuple: &T) -> Option<(C, SubflowId)> {
        self.0.get(tuple).copied()
    }

    /// Removes `tuple`, if it is still `subflow` of `connection`.
    pub fn remove(&mut self, tuple: &T, connection: C, subflow: SubflowId) {
        if self.0.get(tuple) == Some(&(connection, subflow)) {
            self.0.remove(tuple);
        }
    }
}
