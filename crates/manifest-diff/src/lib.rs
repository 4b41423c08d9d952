//! Compares Kubernetes objects before and after a change: a diff of objects, a summary of what matters, and reports
//! for people and machines.
//!
//! Input: the targets that a repository renders to, before and after ([`Target`]). Out: a [`Review`], which is data, and
//! texts made of it by one of [`FORMATS`]. No disk, network, clock or process: the same input gives the same bytes.
//!
//! No value of a Secret leaves [`review()`]: they become keyed tags before anything is compared, so that no format can
//! show one.

mod compare;
pub mod format;
mod input;
mod json_text;
mod lines;
mod locate;
mod mask;
mod model;
mod moved;
mod objects;
mod pair;
mod review;
mod summary;
mod targets;

pub use format::{FORMATS, Format, FormatOptions};
pub use input::{ApplyOptions, RenderOutcome, SecretKey, Target, VolatileField};
pub use model::{
    Counts, FieldChange, FieldStatus, FileLocation, Finding, Hidden, ImageChange, Level, Moved, ObjectCounts,
    ObjectId, ObjectReview, ObjectStatus, Plan, PlanStep, PlannedObject, ReplicaChange, Review, Rule,
    Summary, TargetKind, TargetReview, TargetStatus, WarningReview, schema,
};
pub use review::{Options, review};
