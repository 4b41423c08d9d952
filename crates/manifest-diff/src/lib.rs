//! Reviews of changes to Kubernetes objects: a diff of objects, a summary of what matters, and reports in several formats.
//!
//! Input: the [`Target`]s of a repository before and after a change. Output: a [`Review`], which is plain data, and reports
//! made from it by one of [`FORMATS`]. No disk, network, clock or process: equal input gives equal bytes.
//!
//! Values of Secrets never leave [`review()`]: it replaces them by keyed tags before it compares anything, so that no format
//! can print one.

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
