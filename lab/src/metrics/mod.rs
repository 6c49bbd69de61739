//! What a run measured: reordering ([`reorder`]), loss episodes and their truth ([`episodes`], [`fates`]), counts and means
//! ([`account`]), what each subflow waited for ([`causes`]), what middleboxes did to the content ([`altered`]), what became of datagrams ([`transit`]), what applications count in ([`items`], [`playback`]), how it finds its rate again ([`recovery`]), time series ([`series`]).

pub mod account;
pub mod altered;
pub mod causes;
pub mod counts;
pub mod episodes;
pub mod fates;
pub(crate) mod figures;
pub mod items;
pub mod measures;
pub mod playback;
pub mod recovery;
pub mod reorder;
pub mod series;
pub mod transit;
