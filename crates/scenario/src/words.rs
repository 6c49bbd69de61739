//! Words that scenarios choose from, with what they mean.

use anabranch_wifi::channel::{Fading, NAKAGAMI_M};
use anabranch_wifi::phy::Like;

use super::model::{ChangeKind, PathAction, PathManager, Protocol, Stack};
use super::weather::Shape;

/// Words and their meanings.
pub(super) type Words<T> = &'static [(&'static str, T)];

pub(super) const STACKS: Words<Stack> = &[("anabranch", Stack::Anabranch), ("legacy-2011", Stack::Legacy2011)];
pub(super) const PROTOCOLS: Words<Protocol> =
    &[("mptcp", Protocol::Mptcp), ("tcp", Protocol::Tcp), ("udp", Protocol::Udp)];
pub(super) const POLICIES: Words<PathManager> = &[
    ("one-per-interface", PathManager::OnePerInterface),
    ("full-mesh", PathManager::FullMesh),
    ("none", PathManager::None),
];
pub(super) const ACTIONS: Words<PathAction> = &[
    ("add", PathAction::Add),
    ("remove", PathAction::Remove),
    ("backup", PathAction::Backup),
    ("regular", PathAction::Regular),
];
/// True for the client.
pub(super) const ENDS: Words<bool> = &[("client", true), ("server", false)];
/// Of a transfer: from client to server; in both directions.
pub(super) const DIRECTIONS: Words<(bool, bool)> =
    &[("up", (true, false)), ("down", (false, false)), ("both", (true, true))];
/// Of a link or a middlebox: up, down.
pub(super) const WAYS: Words<(bool, bool)> = &[("both", (true, true)), ("up", (true, false)), ("down", (false, true))];
pub(super) const STATES: Words<ChangeKind> = &[("down", ChangeKind::LinkDown), ("up", ChangeKind::LinkUp)];
/// True for the far end of the link.
pub(super) const BOX_ENDS: Words<bool> = &[("near", false), ("far", true)];
pub(super) const SHAPES: Words<Shape> = &[("normal", Shape::Normal), ("log-normal", Shape::LogNormal)];
/// True for ad hoc.
pub(super) const MODES: Words<bool> = &[("infrastructure", false), ("ad-hoc", true)];
/// True for Friis.
pub(super) const PATH_LOSSES: Words<bool> = &[("log-distance", false), ("friis", true)];
pub(super) const FADINGS: Words<Fading> =
    &[("none", Fading::None), ("nakagami", Fading::Nakagami(NAKAGAMI_M)), ("rayleigh", Fading::Rayleigh)];
pub(super) const LIKES: Words<Like> = &[("standard", Like::Standard), ("ns-3", Like::Ns3)];
/// True for a fat-tree.
pub(super) const NETWORKS: Words<bool> = &[("fat-tree", true), ("dumbbell", false)];

/// Who sends to whom in generated traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    Permutation,
    Incast,
}
pub(super) const PATTERNS: Words<Pattern> = &[("permutation", Pattern::Permutation), ("incast", Pattern::Incast)];

/// The distribution of a drawn amount or time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Law {
    Uniform,
    Exponential,
    Lognormal,
    Pareto,
}
pub(super) const LAWS: Words<Law> = &[
    ("uniform", Law::Uniform),
    ("exponential", Law::Exponential),
    ("lognormal", Law::Lognormal),
    ("pareto", Law::Pareto),
];

/// Names of the presets of satellite links.
pub const LEO: &[&str] = &["starlink-fixed-2022", "starlink-fixed-2024", "starlink-mobile", "starlink-roam"];
/// Names of the presets of cellular links.
pub const CELLULAR: &[&str] = &["lte-good", "lte-driving", "5g-mid-band", "5g-driving"];
