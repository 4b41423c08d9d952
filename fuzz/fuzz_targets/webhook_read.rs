//! Reads an arbitrary body as every kind of webhook. Run with
//! `RUSTC_BOOTSTRAP=1 cargo fuzz run -s none webhook_read -- -max_total_time=600`.
//!
//! The first line of the input is what the address has behind `?`, the second the event that headers name, the rest the
//! body. Nothing may panic, and each image that is read has a name that is read as itself.

#![no_main]

use http::{HeaderName, HeaderValue, Request};
use image_updater::webhook::{KINDS, Letter, News};
use libfuzzer_sys::fuzz_target;
use oci_registry::Repository;

const EVENTS: [&str; 4] = ["x-github-event", "x-gitea-event", "ce-type", "ce-specversion"];

fuzz_target!(|bytes: &[u8]| {
    let Ok(input) = std::str::from_utf8(bytes) else { return };
    let mut parts = input.splitn(3, '\n');
    let (Some(query), Some(event), Some(body)) = (parts.next(), parts.next(), parts.next()) else { return };
    let Ok(body) = serde_json::from_str(body) else { return };
    let Ok(request) = Request::post(format!("/webhook?{query}")).body(()) else { return };
    let (mut head, ()) = request.into_parts();
    for name in EVENTS {
        let Ok(value) = HeaderValue::try_from(event) else { return };
        head.headers.insert(HeaderName::from_static(name), value);
    }
    for kind in KINDS {
        let Ok(News::Images(images)) = kind.read(&Letter::new(&head, &body)) else { continue };
        for image in images {
            let (registry, name) = (image.repository.registry(), image.repository.name());
            assert_eq!(Repository::new(registry, name).ok(), Some(image.repository.clone()));
        }
    }
});
