//! Which resources a patch or a replacement is for: patterns for group, version, kind, name and namespace, and
//! selectors of labels and annotations.

use compact_str::CompactString;
use diagnostic::{Error, Result};
use goregex::Regex;
use yamltree::{Node, Span};

use crate::context::Context;
use crate::decode::{Object, Reading};
use crate::labels::Labels;
use crate::resid::Gvk;
use crate::resmap::ResMap;
use crate::resource::Resource;

/// A set of resources. A part that is not given selects every resource.
#[derive(Debug, Default)]
pub(crate) struct Selector {
    group: Pattern,
    version: Pattern,
    kind: Pattern,
    name: Pattern,
    namespace: Pattern,
    labels: Lazy,
    annotations: Lazy,
    span: Span,
}

/// One pattern: a regular expression that must match the whole.
#[derive(Debug, Default)]
pub(crate) enum Pattern {
    /// Not given.
    #[default]
    Any,
    /// Without anything special, so that it is only compared.
    Literal(CompactString),
    Regex(Box<Regex>),
}

/// A selector of labels. Kustomize reads it when a resource passes the other parts, so its faults count only then.
#[derive(Debug)]
struct Lazy(Result<Labels>);

impl Default for Lazy {
    fn default() -> Self {
        Self(Ok(Labels::default()))
    }
}

impl Pattern {
    fn read(text: Option<&Node>, pattern: &str) -> Result<Self> {
        if pattern.is_empty() {
            return Ok(Self::Any);
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b':');
        if pattern.bytes().all(is_plain) {
            return Ok(Self::Literal(pattern.into()));
        }
        let span = text.map_or(Span::NONE, |node| node.span);
        match Regex::anchored(pattern) {
            Ok(regex) => Ok(Self::Regex(Box::new(regex))),
            Err(error) => {
                Err(Error::invalid(format!("invalid regular expression `{pattern}`: {error}")).at(span))
            }
        }
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Literal(literal) => literal == text,
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

impl Selector {
    /// Reads the fields of a selector. What else the object holds is left to who called.
    ///
    /// # Errors
    /// A field that is no string, or no regular expression.
    pub(crate) fn of(object: &Object<'_>) -> Result<Self> {
        let pattern = |name| Pattern::read(object.field(name), &object.text(name)?);
        let labels = |name| {
            let text = object.text(name)?;
            let span = object.field(name).map_or(Span::NONE, |node| node.span);
            Ok::<_, Error>(Lazy(Labels::parse(&text).map_err(|error| error.at(span))))
        };
        Ok(Self {
            group: pattern("group")?,
            version: pattern("version")?,
            kind: pattern("kind")?,
            name: pattern("name")?,
            namespace: pattern("namespace")?,
            labels: labels("labelSelector")?,
            annotations: labels("annotationSelector")?,
            span: object.span(),
        })
    }

    /// Reads an object that is a selector and nothing more.
    pub(crate) fn read(node: &Node, what: &'static str, reading: Reading, cx: &Context<'_>) -> Result<Self> {
        let object = Object::read(node, what, reading)?;
        let selector = Self::of(&object)?;
        object.close(cx)?;
        Ok(selector)
    }

    /// Returns where it is written.
    pub(crate) fn span(&self) -> Span {
        self.span
    }

    /// The name, where it is one and no pattern.
    pub(crate) fn literal_name(&self) -> Option<&str> {
        match &self.name {
            Pattern::Literal(name) => Some(name),
            Pattern::Any | Pattern::Regex(_) => None,
        }
    }

    /// The kind, where it is one and no pattern.
    pub(crate) fn literal_kind(&self) -> Option<&str> {
        match &self.kind {
            Pattern::Literal(kind) => Some(kind),
            Pattern::Any | Pattern::Regex(_) => None,
        }
    }

    /// Returns true if a part of an id is asked for.
    pub(crate) fn asks_for_id(&self) -> bool {
        let parts = [&self.group, &self.version, &self.kind, &self.name, &self.namespace];
        parts.iter().any(|pattern| !matches!(pattern, Pattern::Any))
    }

    /// Returns true if a name was given, be it a pattern.
    pub(crate) fn has_name(&self) -> bool {
        !matches!(self.name, Pattern::Any)
    }

    pub(crate) fn matches_gvk(&self, gvk: &Gvk) -> bool {
        self.kind.matches(&gvk.kind) && self.group.matches(&gvk.group) && self.version.matches(&gvk.version)
    }

    pub(crate) fn matches_name(&self, name: &str) -> bool {
        self.name.matches(name)
    }

    pub(crate) fn matches_namespace(&self, namespace: &str) -> bool {
        self.namespace.matches(namespace)
    }

    /// Returns whether the labels and annotations of a resource are selected.
    ///
    /// # Errors
    /// A selector that cannot be read.
    pub(crate) fn matches_metadata(&self, resource: &Resource) -> Result<bool> {
        for (lazy, key) in [(&self.labels, "labels"), (&self.annotations, "annotations")] {
            let labels = lazy.0.as_ref().map_err(Clone::clone)?;
            if !labels.is_empty() && !labels.matches(resource.metadata(key)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns true if labels or annotations are asked for.
    pub(crate) fn asks_for_metadata(&self) -> bool {
        [&self.labels, &self.annotations].iter().any(|lazy| !lazy.0.as_ref().is_ok_and(Labels::is_empty))
    }

    /// Returns whether a resource is selected by the name and namespace that it has or had at first.
    ///
    /// # Errors
    /// A selector of labels that cannot be read.
    pub(crate) fn matches(&self, resource: &Resource) -> Result<bool> {
        let (original, current) = (resource.original_id(), resource.id());
        Ok(self.matches_gvk(&current.gvk)
            && (self.matches_name(&current.name) || self.matches_name(&original.name))
            && (self.matches_namespace(current.effective_namespace())
                || self.matches_namespace(original.effective_namespace()))
            && self.matches_metadata(resource)?)
    }

    /// The positions of the selected resources.
    ///
    /// # Errors
    /// A selector of labels that cannot be read.
    pub(crate) fn select(&self, map: &ResMap) -> Result<Vec<usize>> {
        let selected = |position: &usize| self.matches(map.get(*position));
        let mut positions = Vec::new();
        let mut visit = |position: usize| {
            if selected(&position)? {
                positions.push(position);
            }
            Ok::<_, Error>(())
        };
        match self.literal_name() {
            Some(name) => map.with_any_name(name).iter().copied().try_for_each(&mut visit)?,
            None => (0..map.len()).try_for_each(&mut visit)?,
        }
        Ok(positions)
    }
}

#[cfg(test)]
mod tests {
    use yamltree::{Dialect, ParseOptions};

    use super::*;
    use crate::schema::Schema;

    fn parse(text: &str) -> Node {
        let options = ParseOptions { dialect: Dialect::V3, ..ParseOptions::default() };
        yamltree::parse_first(text, 0, &options).expect("YAML").expect("a document").root
    }

    fn selector(text: &str) -> Result<Selector> {
        Selector::of(&Object::new(&parse(text), "a target")?)
    }

    fn map() -> ResMap {
        let schema = Schema::builtin();
        let mut map = ResMap::new(schema.clone());
        for text in [
            "{apiVersion: group1/v1, kind: Kind1, metadata: {name: name1, namespace: ns1, labels: {app: name1}}}",
            "{apiVersion: group1/v1, kind: Kind1, metadata: {name: name2, namespace: default, labels: {app: name2}}}",
            "{apiVersion: group1/v1, kind: Kind2, metadata: {name: name3}}",
            "{apiVersion: group1/v1, kind: Kind2, metadata: {name: x-name1, namespace: x-default}}",
            "{apiVersion: v1, kind: Namespace, metadata: {name: ns1}}",
        ] {
            map.append(Resource::new(parse(text), &schema)).expect("one of each");
        }
        map
    }

    fn names(text: &str) -> Vec<String> {
        let map = map();
        let positions = selector(text).expect("a selector").select(&map).expect("readable");
        positions.into_iter().map(|position| map.get(position).name().to_owned()).collect()
    }

    #[test]
    fn patterns_match_the_whole() {
        assert_eq!(names("{name: name.*}"), ["name1", "name2", "name3"]);
        assert_eq!(names("{name: ame1}"), [""; 0]);
        assert_eq!(names("{name: name1|name3}"), ["name1", "name3"]);
        assert_eq!(names("{name: ^name1$}"), ["name1"]);
        assert_eq!(names("{kind: Kind1}"), ["name1", "name2"]);
        assert_eq!(names("{group: '^$', version: v.}"), ["ns1"]);
        assert_eq!(names("{}").len(), 5);
    }

    /// A resource without a namespace is in `default`; a cluster-scoped one is in none.
    #[test]
    fn namespaces_are_those_in_effect() {
        assert_eq!(names("{namespace: default}"), ["name2", "name3"]);
        assert_eq!(names("{namespace: .*default}"), ["name2", "name3", "x-name1"]);
        assert_eq!(names("{namespace: ns1}"), ["name1"]);
    }

    #[test]
    fn labels_are_selected_by_their_language() {
        assert_eq!(names("{labelSelector: app in (name1)}"), ["name1"]);
        assert_eq!(names("{labelSelector: '!app', kind: Kind2}"), ["name3", "x-name1"]);
        assert_eq!(names("{annotationSelector: app}"), [""; 0]);
    }

    #[test]
    fn the_original_and_the_current_name_count_but_none_between() {
        let mut map = map();
        for name in ["between", "last"] {
            let rename = |resource: &mut Resource| {
                resource.store_previous_id();
                resource.set_name(name);
                Ok(())
            };
            map.modify(0, rename).expect("renamed");
        }
        let count = |text: &str| selector(text).expect("a selector").select(&map).expect("readable").len();
        assert_eq!((count("{name: name1}"), count("{name: between}"), count("{name: last}")), (1, 0, 1));
    }

    #[test]
    fn a_bad_pattern_is_refused_and_bad_labels_only_where_a_resource_would_be_selected() {
        let error = selector("{name: 'a(?!b)'}").expect_err("no lookahead");
        assert!(error.message().contains("invalid or unsupported Perl syntax"), "{}", error.message());
        let map = map();
        assert!(selector("{labelSelector: a=b=c}").expect("read later").select(&map).is_err());
        assert_eq!(
            selector("{labelSelector: a=b=c, name: none}").expect("read later").select(&map).unwrap(),
            []
        );
    }
}
