//! The messages of the services, by the numbers of their fields (Argo CD's `plugin.proto`, `repository.proto` and
//! `version.proto`, gRPC's `health.proto`).

use std::collections::BTreeMap;

use bytes::Bytes;
use prost::{Message, Oneof};

/// One message of a stream: first what it is about, then an archive in pieces.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct AppStreamRequest {
    #[prost(oneof = "StreamPart", tags = "1, 2")]
    pub(crate) request: Option<StreamPart>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum StreamPart {
    #[prost(message, tag = "1")]
    Metadata(Metadata),
    #[prost(message, tag = "2")]
    File(File),
}

/// `ManifestRequestMetadata`
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Metadata {
    /// The base name of the application's folder, not the application's name.
    #[prost(string, tag = "1")]
    pub(crate) app_name: String,
    #[prost(string, tag = "2")]
    pub(crate) app_rel_path: String,
    /// Of the archive: SHA-256, in hexadecimal digits.
    #[prost(string, tag = "3")]
    pub(crate) checksum: String,
    /// Of the archive, in bytes.
    #[prost(int64, tag = "4")]
    pub(crate) size: i64,
    #[prost(message, repeated, tag = "5")]
    pub(crate) env: Vec<EnvEntry>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct EnvEntry {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct File {
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) chunk: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ManifestResponse {
    #[prost(string, repeated, tag = "1")]
    pub(crate) manifests: Vec<String>,
    #[prost(string, tag = "2")]
    pub(crate) source_type: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct RepositoryResponse {
    #[prost(bool, tag = "1")]
    pub(crate) is_supported: bool,
    #[prost(bool, tag = "2")]
    pub(crate) is_discovery_enabled: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ParametersAnnouncementResponse {
    #[prost(message, repeated, tag = "1")]
    pub(crate) parameter_announcements: Vec<ParameterAnnouncement>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ParameterAnnouncement {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) title: String,
    #[prost(string, tag = "3")]
    pub(crate) tooltip: String,
    #[prost(bool, tag = "4")]
    pub(crate) required: bool,
    #[prost(string, tag = "5")]
    pub(crate) item_type: String,
    #[prost(string, tag = "6")]
    pub(crate) collection_type: String,
    #[prost(string, tag = "7")]
    pub(crate) string: String,
    #[prost(string, repeated, tag = "8")]
    pub(crate) array: Vec<String>,
    #[prost(btree_map = "string, string", tag = "9")]
    pub(crate) map: BTreeMap<String, String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CheckPluginConfigurationResponse {
    #[prost(bool, tag = "1")]
    pub(crate) is_discovery_configured: bool,
    #[prost(bool, tag = "2")]
    pub(crate) provide_git_creds: bool,
}

/// `google.protobuf.Empty`, and any request of which nothing is asked.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Empty {}

/// Of the versions of Argo CD's own parts, which are none of ours, only the program's.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct VersionMessage {
    #[prost(string, tag = "1")]
    pub(crate) version: String,
}

/// `grpc.health.v1.HealthCheckRequest`
#[derive(Clone, PartialEq, Message)]
pub(crate) struct HealthCheckRequest {
    /// Nothing for the server as a whole.
    #[prost(string, tag = "1")]
    pub(crate) service: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct HealthCheckResponse {
    /// `SERVING` is 1, `NOT_SERVING` 2.
    #[prost(int32, tag = "1")]
    pub(crate) status: i32,
}
