//! What a run or a capture measured, and what both need beside that.
//!
//! - [`account`], [`counts`]: counts and means; [`figures`]: ratios and percentiles made of them
//! - [`measures`]: the table of measures with labels, units, definitions
//! - [`causes`]: what each subflow waited for
//! - [`reorder`], [`episodes`], [`fates`]: reordering; loss episodes and whether they were spurious
//! - [`altered`], [`transit`]: what middleboxes changed; what became of datagrams
//! - [`items`], [`playback`]: what applications count in: messages, pages, films
//! - [`recovery`], [`series`]: how a rate returns after a failure; time series
//! - [`rng`]: seeded randomness by component name; [`ask`]: whether the caller wants to go on
#![forbid(unsafe_code)]
// Whoever reads these pages has the source beside them: links may lead to what is private.
#![allow(rustdoc::private_intra_doc_links)]
#![deny(rustdoc::broken_intra_doc_links)]

pub mod account;
pub mod altered;
pub mod ask;
pub mod causes;
pub mod counts;
pub mod episodes;
pub mod fates;
pub mod figures;
pub mod items;
pub mod measures;
pub mod playback;
pub mod recovery;
pub mod reorder;
pub mod rng;
pub mod series;
pub mod transit;
