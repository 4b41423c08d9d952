//! In which form objects are said: whole, or their metadata alone, as the header `Accept` asks.

use serde_json::{Value, json};

use super::failure::Failure;

/// A form of objects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum View {
    Whole,
    /// `PartialObjectMetadata`
    Metadata,
    /// `PartialObjectMetadataList`
    MetadataList,
}

impl View {
    /// The first of the accepted forms that there is. Tables, protobuf and discovery in one document are not.
    pub(super) fn read(accept: &str) -> Result<Self, Failure> {
        if accept.trim().is_empty() {
            return Ok(Self::Whole);
        }
        accept.split(',').find_map(Self::read_one).ok_or_else(|| {
            Failure::not_acceptable("only the following media types are accepted: application/json")
        })
    }

    fn read_one(media_type: &str) -> Option<Self> {
        let mut parts = media_type.split(';').map(str::trim);
        if !["application/json", "application/*", "*/*"].contains(&parts.next()?) {
            return None;
        }
        let parameters: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once('=')).collect();
        let value = |name: &str| parameters.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        match (value("as"), value("g"), value("v")) {
            (None, ..) => Some(Self::Whole),
            (Some("PartialObjectMetadata"), Some("meta.k8s.io"), Some("v1")) => Some(Self::Metadata),
            (Some("PartialObjectMetadataList"), Some("meta.k8s.io"), Some("v1")) => Some(Self::MetadataList),
            _ => None,
        }
    }

    /// One object; a `Status` is said as it is.
    pub(super) fn of_object(self, object: Value) -> Result<Value, Failure> {
        match self {
            Self::MetadataList if object["kind"] != "Status" => Err(Failure::not_acceptable(
                "you requested PartialObjectMetadataList, but the requested object is not a list",
            )),
            Self::Metadata if object["kind"] != "Status" => Ok(self.of_item(object)),
            _ => Ok(object),
        }
    }

    /// An object of a watch or a list.
    pub(super) fn of_item(self, object: Value) -> Value {
        match self {
            Self::Whole => object,
            Self::Metadata | Self::MetadataList => json!({
                "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"],
            }),
        }
    }

    /// A list.
    pub(super) fn of_list(self, mut list: Value) -> Result<Value, Failure> {
        match self {
            Self::Whole => Ok(list),
            Self::Metadata => Err(Failure::not_acceptable(
                "you requested PartialObjectMetadata, but the requested object is a list",
            )),
            Self::MetadataList => {
                list["kind"] = "PartialObjectMetadataList".into();
                list["apiVersion"] = "meta.k8s.io/v1".into();
                if let Value::Array(items) = list["items"].take() {
                    list["items"] = items.into_iter().map(|item| self.of_item(item)).collect();
                }
                Ok(list)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_form_that_there_is_counts() {
        let metadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
        for (accept, want) in [
            ("", Some(View::Whole)),
            ("*/*", Some(View::Whole)),
            (metadata, Some(View::Metadata)),
            ("application/json; as=PartialObjectMetadataList; g=meta.k8s.io; v=v1", Some(View::MetadataList)),
            ("application/json;as=Table;g=meta.k8s.io;v=v1,application/json", Some(View::Whole)),
            ("application/vnd.kubernetes.protobuf,application/json", Some(View::Whole)),
            ("application/vnd.kubernetes.protobuf", None),
            ("text/html", None),
        ] {
            assert_eq!(View::read(accept).ok(), want, "{accept}");
        }
        assert_eq!(View::read("text/html").unwrap_err().code, 406);
    }

    /// kube asks for the one where it should ask for the other by mistake only; the server does not guess.
    #[test]
    fn a_list_is_no_object() {
        assert_eq!(View::Metadata.of_list(json!({"items": []})).unwrap_err().code, 406);
        assert_eq!(View::MetadataList.of_object(json!({})).unwrap_err().code, 406);
        let object = json!({"kind": "Secret", "metadata": {"name": "x"}, "data": {"a": "b"}});
        let shown = View::Metadata.of_object(object).unwrap();
        assert_eq!(shown["metadata"]["name"], "x");
        assert!(shown.get("data").is_none());
    }
}
