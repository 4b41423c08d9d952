//! `edit set image`: names, tags and digests of `images`.

use std::collections::HashSet;

use diagnostic::{Error, Result};
use yamledit::Content;

use crate::fields::{self, Fields};
use crate::kustomization::Kustomization;

/// Stands for what the entry has already.
const AS_IT_IS: &str = "*";

/// An image argument.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Image<'a> {
    name: &'a str,
    new_name: &'a str,
    new_tag: &'a str,
    digest: &'a str,
}

impl Kustomization<'_> {
    /// Sets images: `NAME=NEW:TAG@DIGEST`, `NAME:TAG`, `NAME@DIGEST` and so on. An entry that is there loses what the
    /// argument does not say, but for a part that is `*`.
    ///
    /// # Errors
    /// If there is no image, or one says nothing.
    pub fn set_images(&mut self, arguments: &[impl AsRef<str>]) -> Result<()> {
        if arguments.is_empty() {
            return Err(Error::invalid("no image specified"));
        }
        let mut wanted: Vec<Image<'_>> = Vec::new();
        for argument in arguments {
            let image = Image::parse(argument.as_ref())?;
            // Of two for one name the last counts.
            match wanted.iter_mut().find(|known| known.name == image.name) {
                Some(known) => *known = image,
                None => wanted.push(image),
            }
        }
        let images = fields::list(&mut self.fields, "images");
        drop_repeated(images);
        for image in &wanted {
            let is_known = |item: &&mut Content| fields::text(fields::entries(item), "name") == image.name;
            match images.iter_mut().find(is_known).and_then(fields::entries_mut) {
                Some(entries) => image.write(entries),
                None => {
                    let mut entries = Vec::new();
                    fields::set_text(&mut entries, "name", image.name);
                    image.write(&mut entries);
                    images.push(Content::Mapping(entries));
                }
            }
        }
        sort_where_it_matters(images);
        Ok(())
    }
}

impl<'a> Image<'a> {
    fn parse(argument: &'a str) -> Result<Self> {
        let (key, value) = argument.split_once('=').unwrap_or(("", argument));
        let (name, new_tag, digest) = split(value);
        if name == argument {
            return Err(Error::invalid(
                "invalid format of image, use one of the following options:\n- <image>=<newimage>:<newtag>\n\
                 - <image>=<newimage>@<digest>\n- <image>=<newimage>:<newtag>@<digest>\n- <image>=<newimage>\n\
                 - <image>:<newtag>\n- <image>:<newtag>@<digest>\n- <image>@<digest>",
            ));
        }
        Ok(match key {
            "" => Self { name, new_name: "", new_tag, digest },
            key => Self { name: key, new_name: name, new_tag, digest },
        })
    }

    fn write(&self, entries: &mut Fields) {
        fields::remove(entries, "tagSuffix");
        for (field, text) in [("newName", self.new_name), ("newTag", self.new_tag), ("digest", self.digest)] {
            if text != AS_IT_IS {
                fields::set_text(entries, field, text);
            }
        }
    }
}

/// A reference in its parts; what is absent is empty. A colon before the first slash belongs to a port.
fn split(image: &str) -> (&str, &str, &str) {
    let from = image.find('/').unwrap_or(0);
    let find = |separator| image[from..].find(separator).map(|at| from + at);
    match (find(':'), find('@')) {
        (None, None) => (image, "", ""),
        (Some(tag), Some(digest)) if tag < digest => {
            (&image[..tag], &image[tag + 1..digest], &image[digest + 1..])
        }
        (_, Some(digest)) => (&image[..digest], "", &image[digest + 1..]),
        (Some(tag), None) => (&image[..tag], &image[tag + 1..], ""),
    }
}

/// Of entries with one name the first stays, as in Kustomize.
fn drop_repeated(images: &mut Vec<Content>) {
    let mut seen = HashSet::new();
    images.retain(|item| seen.insert(fields::text(fields::entries(item), "name").to_owned()));
}

/// Kustomize sorts the entries by name. That is done where it changes what is built: where an entry could find what
/// another one has made. Elsewhere they stay in their places.
fn sort_where_it_matters(images: &mut [Content]) {
    let name = |item: &Content| fields::text(fields::entries(item), "name").to_owned();
    let names: Vec<String> = images.iter().map(name).collect();
    if names.is_sorted() {
        return;
    }
    let is_plain =
        |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_-:".contains(&byte));
    let plain: HashSet<&str> = names.iter().map(String::as_str).collect();
    let leads_on = |item: &Content| plain.contains(fields::text(fields::entries(item), "newName"));
    // A name is an expression, so that a dot in it may stand for another character.
    if images.iter().any(leads_on) || !names.iter().all(|name| is_plain(&name.replace('.', "-"))) {
        images.sort_by_cached_key(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str, images: &[&str]) -> String {
        let text = format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n{text}");
        let mut kustomization = Kustomization::parse(&text).unwrap();
        kustomization.set_images(images).unwrap();
        let edited = kustomization.finish().unwrap();
        edited.splitn(3, '\n').nth(2).unwrap().to_owned()
    }

    #[test]
    fn arguments_are_split_as_kustomize_does() {
        for (argument, name, new_name, new_tag, digest) in [
            ("a:1", "a", "", "1", ""),
            ("a@d", "a", "", "", "d"),
            ("a:1@d", "a", "", "1", "d"),
            ("a@d:1", "a", "", "", "d:1"),
            ("a=b", "a", "b", "", ""),
            ("a=r.test:5000/b:1", "a", "r.test:5000/b", "1", ""),
            ("r.test:5000/a:", "r.test:5000/a", "", "", ""),
            ("=b", "b", "", "", ""),
            ("a=b=c:1", "a", "b=c", "1", ""),
        ] {
            assert_eq!(
                Image::parse(argument).unwrap(),
                Image { name, new_name, new_tag, digest },
                "{argument}"
            );
        }
        assert!(Image::parse("a").is_err() && Image::parse("").is_err() && Image::parse("r:5/a").is_err());
    }

    #[test]
    fn an_entry_says_what_the_argument_says() {
        for (old, image, new) in [
            ("images:\n- name: a # c\n  newTag: v1\n", "a:v2", "images:\n- name: a # c\n  newTag: v2\n"),
            (
                "images:\n- name: a\n  newName: b\n  newTag: v1 # c\n",
                "a:v2",
                "images:\n- name: a\n  newTag: v2 # c\n",
            ),
            ("images:\n- digest: d # c\n  name: a\n", "a:v2", "images:\n- newTag: v2 # c\n  name: a\n"),
            (
                "images:\n- name: a\n  newName: b\n",
                "a=*:v2",
                "images:\n- name: a\n  newName: b\n  newTag: v2\n",
            ),
            (
                "images: [{name: a, newTag: v1}]\n",
                "b@d",
                "images: [{name: a, newTag: v1}, {name: b, digest: d}]\n",
            ),
            ("images:\n- name: b\n", "a:1.20", "images:\n- name: b\n- name: a\n  newTag: \"1.20\"\n"),
            ("", "a=*", "images:\n- name: a\n"),
        ] {
            assert_eq!(set(old, &[image]), new, "{old:?}");
        }
    }

    /// Kustomize's order by name decides what `x` becomes: with `x` last it would stay `c`.
    #[test]
    fn entries_that_find_one_anothers_work_are_sorted() {
        let images = ["x=b:1", "b=c:2"];
        assert_eq!(
            set("", &images),
            "images:\n- name: b\n  newName: c\n  newTag: \"2\"\n- name: x\n  newName: b\n  newTag: \"1\"\n"
        );
    }
}
