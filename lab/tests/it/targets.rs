//! to do
