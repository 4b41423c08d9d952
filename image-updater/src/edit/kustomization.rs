//! Kustomizations: the entry of `images` for an image.
//!
//! An entry is matched by its name or its new name; where there is none, one is added. Without a digest to write, one
//! that is there goes, as Kustomize would prefer it to the tag.

use diagnostic::Result;
use yamledit::{Anchors, Content, Edits};
use yamltree::{Entry, Kind, Node, Resolved};

use super::{Options, Outcome, Request, Source, Target, is_same_name};

pub(super) const TARGET: Target =
    Target { name: "kustomization", options: Options::None, renames: true, creates_file: false, edit };

fn edit(source: &Source<'_>, request: &Request) -> Result<Outcome> {
    let file = source.parse()?;
    let mut images = Images { source, anchors: file.anchors(), edits: Edits::new(&file), request };
    let is_empty = |node: &Node| node.span.start == node.span.end;
    let mut roots = file.documents().iter().map(|document| &document.root).filter(|root| !is_empty(root));
    let root = roots.next();
    if let Some(second) = roots.next() {
        return Err(
            source.refuse("a kustomization is one document, and here is another", second.span.start as usize)
        );
    }
    if !images.edit_root(root, request.insists)? {
        return Ok(Outcome::NotThere);
    }
    images.edits.apply().map(Outcome::from).map_err(|error| source.error(&error))
}

struct Images<'f> {
    source: &'f Source<'f>,
    anchors: Anchors<'f>,
    edits: Edits<'f>,
    request: &'f Request,
}

impl<'f> Images<'f> {
    /// Edits the entries of the image, and says whether there are any, be they added.
    fn edit_root(&mut self, root: Option<&'f Node>, insists: bool) -> Result<bool> {
        let Some(root) = root else {
            let content = vec![("images".to_owned(), Content::Sequence(vec![self.new_entry()]))];
            return if insists {
                self.checked(|images| images.edits.fill(content)).map(|()| true)
            } else {
                Ok(false)
            };
        };
        let Kind::Mapping(_) = &root.kind else {
            return Err(self.source.refuse("a kustomization is a mapping", root.span.start as usize));
        };
        let list = self.own(root, "images")?.map(|entry| &entry.value);
        let mut is_matched = false;
        for item in
            list.and_then(|list| self.anchors.resolve(list)).and_then(Node::items).into_iter().flatten()
        {
            is_matched |= self.edit_entry(item, list.is_some_and(is_alias))?;
        }
        if is_matched || !insists {
            return Ok(is_matched);
        }
        let entry = self.new_entry();
        self.checked(|images| match list {
            None => images.edits.insert(root, "images", Content::Sequence(vec![entry])),
            Some(list) if is_null(list) => images.edits.replace_null(list, vec![entry]),
            Some(list) => images.edits.push(list, entry),
        })?;
        Ok(true)
    }

    /// Edits an entry if it is the image's, and says whether it is.
    fn edit_entry(&mut self, item: &'f Node, is_shared: bool) -> Result<bool> {
        let at = item.span.start as usize;
        let Some(entry) = self.anchors.resolve(item).filter(|entry| entry.is_mapping()) else {
            return Err(self.source.refuse("an entry of `images` is a mapping", at));
        };
        if !self.is_of_image(entry)? {
            return Ok(false);
        }
        if is_shared || is_alias(item) {
            let refusal =
                self.source.refuse("the entry of the image is an alias, shared with other places", at);
            return Err(refusal.hint("edit the anchor, or write the entry out here"));
        }
        self.rename(entry)?;
        let tag = self.own(entry, "newTag")?;
        let digest = self.own(entry, "digest")?;
        let version = &self.request.version;
        let (wanted_tag, wanted_digest) = (&version.tag, version.digest.as_deref());
        match (tag, digest, wanted_digest) {
            (None, Some(digest), None) => self.checked(|images| {
                images.edits.rename(digest, "newTag")?;
                images.edits.set(&digest.value, wanted_tag).map(drop)
            })?,
            (_, _, wanted_digest) => {
                self.put(entry, tag, "newTag", wanted_tag)?;
                match (digest, wanted_digest) {
                    (_, Some(wanted)) => self.put(entry, digest, "digest", wanted)?,
                    (Some(digest), None) => self.checked(|images| images.edits.remove(entry, digest))?,
                    (None, None) => {}
                }
            }
        }
        Ok(true)
    }

    /// Sets a key of an entry that has it, and adds it to one that has not.
    fn put(&mut self, entry: &'f Node, own: Option<&'f Entry>, key: &str, value: &str) -> Result<()> {
        self.checked(|images| match own {
            Some(own) => images.edits.set(&own.value, value).map(drop),
            None => images.edits.insert(entry, key, value.into()),
        })
    }

    /// Returns whether an entry is of the image: by what manifests call it where that is known, or by either of its names.
    fn is_of_image(&self, entry: &'f Node) -> Result<bool> {
        let (name, new_name) = (self.name(entry, "name")?, self.name(entry, "newName")?);
        Ok(match &self.request.image_name {
            Some(wanted) => name.is_some_and(|name| is_same_name(name, wanted)),
            None => [name, new_name].into_iter().flatten().any(|name| self.request.version.is_of(name)),
        })
    }

    fn name(&self, entry: &'f Node, key: &str) -> Result<Option<&'f str>> {
        let found = self.anchors.get(entry, key).map_err(|error| self.source.error(&error))?;
        Ok(found.and_then(|found| self.anchors.resolve(&found.entry.value)).and_then(Node::text))
    }

    /// Has an entry that is found by what manifests call the image lead to the image.
    fn rename(&mut self, entry: &'f Node) -> Result<()> {
        let version = &self.request.version;
        let name = self.name(entry, "newName")?.or(self.name(entry, "name")?);
        if self.request.image_name.is_none() || name.is_some_and(|name| version.is_of(name)) {
            return Ok(());
        }
        let own = self.own(entry, "newName")?;
        self.put(entry, own, "newName", &version.name)
    }

    /// A mapping's own entry for a key; one that it merges in is refused.
    fn own(&self, mapping: &'f Node, key: &str) -> Result<Option<&'f Entry>> {
        let found = self.anchors.get(mapping, key).map_err(|error| self.source.error(&error))?;
        match found {
            Some(found) if found.is_merged => {
                let at = found.entry.key.span.start as usize;
                Err(self
                    .source
                    .refuse(format!("`{key}` is merged in from a mapping that other places share"), at))
            }
            found => Ok(found.map(|found| found.entry)),
        }
    }

    fn new_entry(&self) -> Content {
        let Request { version, image_name, .. } = self.request;
        let mut entries = match image_name.as_deref().filter(|name| !version.is_of(name)) {
            Some(name) => vec![("name", name), ("newName", version.name.as_str())],
            None => vec![("name", version.name.as_str())],
        };
        entries.push(("newTag", &version.tag));
        entries.extend(version.digest.as_deref().map(|digest| ("digest", digest)));
        Content::strings(&entries)
    }

    fn checked(&mut self, edit: impl FnOnce(&mut Self) -> Result<(), diagnostic::Error>) -> Result<()> {
        let source = self.source;
        edit(self).map_err(|error| source.error(&error))
    }
}

fn is_alias(node: &Node) -> bool {
    matches!(node.kind, Kind::Alias(_))
}

fn is_null(node: &Node) -> bool {
    node.resolved(yamltree::Dialect::V3).is_ok_and(|read| read == Resolved::Null)
}

#[cfg(test)]
mod tests {
    use crate::edit::testing::{check, check_refused};

    /// As `kustomize edit set image CALLED=NAME:TAG` has it.
    #[test]
    fn what_manifests_call_the_image_leads_to_it() {
        check(
            "kustomization",
            &[("image-name", "app")],
            &[
                (
                    "r.test/a:v2",
                    "resources: []\n",
                    "resources: []\nimages:\n- name: app\n  newName: r.test/a\n  newTag: v2\n",
                ),
                (
                    "r.test/a:v2",
                    "images:\n- name: app # c\n  newName: r.test/old\n  newTag: v1\n",
                    "images:\n- name: app # c\n  newName: r.test/a\n  newTag: v2\n",
                ),
                (
                    "r.test/a:v2",
                    "images: [{name: app, newTag: v1}]\n",
                    "images: [{name: app, newTag: v2, newName: r.test/a}]\n",
                ),
                // An entry of another name is another's, though it leads to the image.
                (
                    "r.test/a:v2",
                    "images:\n- name: b\n  newName: r.test/a\n  newTag: v1\n- name: docker.io/library/app\n  newTag: v1\n  newName: r.test/a\n",
                    "images:\n- name: b\n  newName: r.test/a\n  newTag: v1\n- name: docker.io/library/app\n  newTag: v2\n  newName: r.test/a\n",
                ),
                ("app:v2", "images:\n- name: app\n  newTag: v1\n", "images:\n- name: app\n  newTag: v2\n"),
            ],
        );
    }

    #[test]
    fn entries_are_matched_by_name_and_new_name() {
        check(
            "kustomization",
            &[],
            &[
                (
                    "r.test/a:2",
                    "images:\n- name: r.test/a\n  newTag: '1'\n",
                    "images:\n- name: r.test/a\n  newTag: '2'\n",
                ),
                (
                    "r.test/a:v2",
                    "images:\n- name: a\n  newName: r.test/a\n  newTag: v1\n",
                    "images:\n- name: a\n  newName: r.test/a\n  newTag: v2\n",
                ),
                (
                    "nginx:v2",
                    "images:\n- name: docker.io/library/nginx\n  newTag: v1\n",
                    "images:\n- name: docker.io/library/nginx\n  newTag: v2\n",
                ),
                // Kustomize takes each spelling for an image of its own, so both must change.
                (
                    "nginx:v2",
                    "images:\n- name: nginx\n  newTag: v1\n- name: docker.io/nginx\n  newTag: v1\n",
                    "images:\n- name: nginx\n  newTag: v2\n- name: docker.io/nginx\n  newTag: v2\n",
                ),
                (
                    "r.test/a:v2",
                    "x: &x {name: r.test/a}\nimages:\n- <<: *x\n  newTag: v1\n",
                    "x: &x {name: r.test/a}\nimages:\n- <<: *x\n  newTag: v2\n",
                ),
            ],
        );
    }

    #[test]
    fn a_stale_digest_goes() {
        check(
            "kustomization",
            &[],
            &[
                (
                    "a:v2",
                    "images:\n- {name: a, newTag: v1, digest: OLD}\n",
                    "images:\n- {name: a, newTag: v2}\n",
                ),
                (
                    "a:v2",
                    "images:\n- {digest: OLD, newTag: v2, name: a}\n",
                    "images:\n- {newTag: v2, name: a}\n",
                ),
                (
                    "a:1.20",
                    "images:\n- {name: a, digest: OLD} # c\n",
                    "images:\n- {name: a, newTag: \"1.20\"} # c\n",
                ),
                (
                    "a:v2",
                    "images:\n- digest: OLD\n  name: a\n  newTag: v1",
                    "images:\n- name: a\n  newTag: v2",
                ),
                (
                    "a:v2",
                    "images:\n- name: a\n  newTag: v1\n  digest: OLD",
                    "images:\n- name: a\n  newTag: v2",
                ),
                (
                    "a:v2@NEW",
                    "images:\n- name: a\n  digest: 'OLD'\n",
                    "images:\n- name: a\n  digest: 'NEW'\n  newTag: v2\n",
                ),
                ("a:v2@NEW", "images:\n- name: a\n", "images:\n- name: a\n  newTag: v2\n  digest: NEW\n"),
            ],
        );
    }

    #[test]
    fn an_entry_is_added_where_there_is_none() {
        check(
            "kustomization",
            &[],
            &[
                ("a:v2", "", "images:\n- name: a\n  newTag: v2\n"),
                ("a:v2", "# empty\n", "# empty\nimages:\n- name: a\n  newTag: v2\n"),
                ("a:v2", "images: []\n", "images: [{name: a, newTag: v2}]\n"),
                (
                    "a:v2",
                    "resources:\n  - x\nimages:\n",
                    "resources:\n  - x\nimages:\n  - name: a\n    newTag: v2\n",
                ),
                (
                    "a:v2",
                    "images: [{name: b, newTag: v1}]\n",
                    "images: [{name: b, newTag: v1}, {name: a, newTag: v2}]\n",
                ),
                ("a:v2", "{\"images\": []}\n", "{\"images\": [{\"name\": \"a\", \"newTag\": \"v2\"}]}\n"),
                (
                    "a:v2",
                    "---\nresources: [x]\n---\n",
                    "---\nresources: [x]\nimages:\n- name: a\n  newTag: v2\n---\n",
                ),
            ],
        );
    }

    #[test]
    fn what_is_shared_or_unclear_is_refused() {
        check_refused(
            "kustomization",
            &[],
            &[
                ("a:v2", "x: &x {name: a, newTag: v1}\nimages: [*x]\n", "the entry of the image is an alias"),
                ("a:v2", "x: &x [{name: a, newTag: v1}]\nimages: *x\n", "the entry of the image is an alias"),
                ("a:v2", "x: &x {newTag: v1}\nimages:\n- name: a\n  <<: *x\n", "`newTag` is merged in"),
                ("a:v2", "images:\n- name: a\n  newTag: v1\n  newTag: v0\n", "duplicate key `newTag`"),
                ("a:v2", "images: x\n", "not a list"),
                ("a:v2", "images: [x]\n", "is a mapping"),
                ("a:v2", "- x\n", "is a mapping"),
                ("a:v2", "images: [\n", "not YAML"),
                ("a:v2", "a: 1\n---\nb: 1\n", "is one document"),
            ],
        );
    }
}
