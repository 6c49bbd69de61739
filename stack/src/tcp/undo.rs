//! The loss undo ledger.
