//! The parameters that an Application can have, for Argo CD's form of them.

use diagnostic::Result;

use super::given::Content;
use super::invocation::Invocation;
use super::read_current::read_current;
use super::render::{Asked, Checkout};
use super::table::PARAMETERS;
use crate::application::Engines;

/// A parameter, and its value so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The description.
    pub tooltip: &'static str,
    /// The type of an item: `string` or `boolean`.
    pub item_type: &'static str,
    /// The value, of the kind that one has to have.
    pub content: Content,
}

/// The parameters that have an effect on a source, with the values that they have so far.
///
/// # Errors
/// If [`render`](super::render) would fail.
pub fn announce<E: Engines>(
    invocation: &Invocation,
    checkout: &Checkout<'_>,
    engines: &E,
) -> Result<Vec<Announcement>, E::Error> {
    let asked = Asked::new(invocation, checkout)?;
    let current = read_current(&asked, checkout.files, checkout.folder, engines)?;
    let scopes = asked.scopes();
    let announced = PARAMETERS.iter().filter(|parameter| scopes.contains(&parameter.scope));
    let announced = announced.map(|parameter| Announcement {
        name: parameter.name,
        title: parameter.title,
        tooltip: parameter.tooltip,
        item_type: parameter.item_type(),
        content: parameter.value(&current),
    });
    Ok(announced.collect())
}
