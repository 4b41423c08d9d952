//! The parsed request of a sender: the JSON body and the headers.

use std::borrow::Cow;

use http::HeaderMap;
use http::request::Parts;
use oci_registry::{Repository, is_tag};
use serde_json::Value;

use super::{Image, Malformed, News};

/// The parsed event, or why the body is malformed.
pub(crate) type Read = Result<News, Malformed>;

/// A request that is read.
#[derive(Clone, Copy, Debug)]
pub struct Letter<'l> {
    headers: &'l HeaderMap,
    query: &'l str,
    /// The body.
    pub body: &'l Value,
}

impl<'l> Letter<'l> {
    /// Of a head and a body.
    #[must_use]
    pub fn new(head: &'l Parts, body: &'l Value) -> Self {
        Self { headers: &head.headers, query: head.uri.query().unwrap_or_default(), body }
    }

    /// The same with another body: a part of it, or what was packed into it.
    pub(super) fn with_body<'m>(&self, body: &'m Value) -> Letter<'m>
    where
        'l: 'm,
    {
        Letter { body, ..*self }
    }

    /// A text in the body that is not empty, by the path to it.
    pub(super) fn text(&self, pointer: &str) -> Option<&'l str> {
        self.body.pointer(pointer)?.as_str().filter(|text| !text.is_empty())
    }

    /// The items of a list in the body.
    pub(super) fn list(&self, pointer: &str) -> &'l [Value] {
        self.body.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// A header, if it is there once.
    pub(super) fn header(&self, name: &str) -> Option<&'l str> {
        single_header(self.headers, name)?.to_str().ok()
    }

    /// The registry, and maybe a path on it, that the address of the webhook says the images are in: `registry_url`.
    pub(super) fn place(&self) -> Option<Cow<'l, str>> {
        single_parameter(self.query, "registry_url").filter(|place| !place.is_empty())
    }
}

/// An image by its registry, and maybe a path on that, and its name.
pub(super) fn image(
    place: &str,
    name: &str,
    tag: Option<&str>,
    digest: Option<&str>,
) -> Result<Image, Malformed> {
    let place = host_and_path(place);
    let (host, path) = place.split_once('/').unwrap_or((place, ""));
    let name = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
    let repository =
        Repository::new(host, &name).map_err(|_| Malformed("it names an image that cannot be"))?;
    tagged(repository, tag, digest)
}

/// An image by its repository.
pub(super) fn tagged(
    repository: Repository,
    tag: Option<&str>,
    digest: Option<&str>,
) -> Result<Image, Malformed> {
    if tag.is_some_and(|tag| !is_tag(tag)) {
        return Err(Malformed("it names a tag that cannot be"));
    }
    Ok(Image { repository, tag: tag.map(str::to_owned), digest: digest.map(str::to_owned) })
}

/// An address without its scheme, and without `/` at its end.
pub(super) fn host_and_path(address: &str) -> &str {
    let address = address.split_once("://").map_or(address, |(_, rest)| rest);
    address.trim_end_matches('/')
}

/// The host of an address, with its port.
pub(super) fn host(address: &str) -> &str {
    host_and_path(address).split(['/', '?', '#']).next().unwrap_or_default()
}

/// Images, or nothing where there are none.
pub(super) fn images(images: Vec<Image>) -> News {
    if images.is_empty() { News::Nothing } else { News::Images(images) }
}

/// A header, if it is there once.
pub(super) fn single_header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h http::HeaderValue> {
    let mut all = headers.get_all(name).iter();
    all.next().filter(|_| all.next().is_none())
}

/// A parameter, if it is there once.
pub(super) fn single_parameter<'q>(query: &'q str, name: &str) -> Option<Cow<'q, str>> {
    let mut all = form_urlencoded::parse(query.as_bytes()).filter(|(known, _)| known == name);
    let (_, value) = all.next()?;
    all.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_where_its_address_says() {
        let whole = |place: &str, name: &str| {
            image(place, name, None, None).map(|image| image.repository.to_string())
        };
        assert_eq!(whole("https://r.test:5000/", "shop/web").unwrap(), "r.test:5000/shop/web");
        assert_eq!(whole("r.test/docker-local", "web").unwrap(), "r.test/docker-local/web");
        assert_eq!(whole("index.docker.io", "shop/web").unwrap(), "docker.io/shop/web");
        assert!(whole("", "web").is_err() && whole("r.test", "").is_err() && whole("r.test", "A").is_err());
        assert!(image("r.test", "web", Some("-"), None).is_err());
        assert_eq!(host("https://r.test:5000?a"), "r.test:5000");
    }

    #[test]
    fn what_is_there_twice_is_not_taken() {
        let place = |query| single_parameter(query, "registry_url").map(Cow::into_owned);
        assert_eq!(place("type=x&registry_url=r.test%2Fa+b").as_deref(), Some("r.test/a b"));
        assert_eq!(place("registry_url=a&registry_url=a"), None);
        let mut headers = HeaderMap::new();
        headers.append("x", http::HeaderValue::from_static("1"));
        assert!(single_header(&headers, "x").is_some() && single_header(&headers, "y").is_none());
        headers.append("x", http::HeaderValue::from_static("1"));
        assert!(single_header(&headers, "x").is_none());
    }
}
