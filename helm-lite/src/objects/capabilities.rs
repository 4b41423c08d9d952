//! `.Capabilities`: a pointer to a struct, with the versions of Kubernetes, its APIs and Helm.

use std::any::Any;

use gotemplate::{CallError, Context, Function, Object, Str, Type, Value};

use crate::capabilities::{API_VERSIONS, KubeVersion};
use crate::options::Options;
use crate::version::HelmVersion;

/// `*common.Capabilities`.
#[derive(Debug)]
pub(crate) struct Capabilities {
    kube_version: Value,
    api_versions: Value,
    helm_version: Value,
}

impl Capabilities {
    pub(crate) fn new(options: &Options<'_>) -> Self {
        let known = API_VERSIONS.iter().copied();
        let versions = known.chain(options.api_versions.iter().map(String::as_str)).map(Str::from).collect();
        Self {
            kube_version: Value::object(options.kube_version.clone()),
            api_versions: Value::object(VersionSet(versions)),
            helm_version: Value::object(BuildInfo(options.version)),
        }
    }
}

impl Object for Capabilities {
    fn go_type(&self) -> Type {
        Type::Pointer(&Type::Named("common.Capabilities", &Type::Struct))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "KubeVersion" => Some(self.kube_version.clone()),
            "APIVersions" => Some(self.api_versions.clone()),
            "HelmVersion" => Some(self.helm_version.clone()),
            _ => None,
        }
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("KubeVersion", self.kube_version.clone()),
            ("APIVersions", self.api_versions.clone()),
            ("HelmVersion", self.helm_version.clone()),
        ]
    }

    fn equals(&self, other: &dyn Object) -> bool {
        let Some(other) = other.as_any().downcast_ref::<Self>() else { return false };
        self.kube_version.deep_equal(&other.kube_version) && self.api_versions.deep_equal(&other.api_versions)
    }
}

/// `common.KubeVersion`.
impl Object for KubeVersion {
    fn go_type(&self) -> Type {
        Type::Named("common.KubeVersion", &Type::Struct)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn field(&self, name: &str) -> Option<Value> {
        Some(match name {
            "Version" => self.version.as_str().into(),
            "Major" => self.major.as_str().into(),
            "Minor" => self.minor.as_str().into(),
            _ => return None,
        })
    }

    fn method(&self, name: &str) -> Option<&'static Function> {
        const METHODS: &[Function] =
            &[Function::new("GitVersion", &[], git_version), Function::new("String", &[], normalized)];
        METHODS.iter().find(|method| method.name() == name)
    }

    fn text(&self) -> Option<Str> {
        Some(self.normalized.as_str().into())
    }

    fn json_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        Some(exported(self).to_vec())
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        let [version, major, minor] = exported(self);
        vec![version, ("normalizedVersion", self.normalized.as_str().into()), major, minor]
    }

    fn passed(&self) -> Option<Value> {
        Some(Value::object(Copied(self.clone())))
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref::<Self>() == Some(self)
    }
}

/// The fields that JSON has.
fn exported(version: &KubeVersion) -> [(&'static str, Value); 3] {
    [
        ("Version", version.version.as_str().into()),
        ("Major", version.major.as_str().into()),
        ("Minor", version.minor.as_str().into()),
    ]
}

/// A copy of the struct, whose `String` method is out of reach: functions print its fields.
#[derive(Debug)]
struct Copied(KubeVersion);

impl Object for Copied {
    fn go_type(&self) -> Type {
        self.0.go_type()
    }

    fn as_any(&self) -> &dyn Any {
        &self.0
    }

    fn field(&self, name: &str) -> Option<Value> {
        self.0.field(name)
    }

    fn json_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        self.0.json_fields()
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        self.0.fields()
    }

    fn equals(&self, other: &dyn Object) -> bool {
        self.0.equals(other)
    }
}

fn git_version(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(args[0].as_object::<KubeVersion>().map_or(Value::Nil, |version| version.version.as_str().into()))
}

fn normalized(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(args[0].as_object::<KubeVersion>().map_or(Value::Nil, |version| version.normalized.as_str().into()))
}

/// `common.VersionSet`.
#[derive(Debug, PartialEq, Eq)]
struct VersionSet(Vec<Str>);

impl Object for VersionSet {
    fn go_type(&self) -> Type {
        Type::Named("common.VersionSet", &Type::STRINGS)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn method(&self, name: &str) -> Option<&'static Function> {
        const HAS: &Function = &Function::new("Has", &[Type::String], has);
        (name == "Has").then_some(HAS)
    }

    fn underlying(&self) -> Option<Value> {
        Some(Value::strings(self.0.iter().cloned()))
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref::<Self>() == Some(self)
    }
}

fn has(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let [set, Value::Str(wanted)] = args else { return Ok(false.into()) };
    Ok(set.as_object::<VersionSet>().is_some_and(|set| set.0.contains(wanted)).into())
}

/// `version.BuildInfo`: what Helm says of itself, which charts compare with the versions that they need.
#[derive(Debug)]
struct BuildInfo(HelmVersion);

/// Its fields with their names in JSON, for Helm 3.17.2.
const BUILD_INFO_3: [(&str, &str, &str); 4] = [
    ("Version", "version", "v3.17.2"),
    ("GitCommit", "git_commit", "cc0bbbd6d6276b83880042c1ecb34087e84d41eb"),
    ("GitTreeState", "git_tree_state", "clean"),
    ("GoVersion", "go_version", "go1.23.7"),
];

/// The same for Helm 4.3.1.
const BUILD_INFO_4: [(&str, &str, &str); 5] = [
    ("Version", "version", "v4.3.1"),
    ("GitCommit", "git_commit", "c0d08d0d6d9424d4a14febb5e8a3e51b0dd00dff"),
    ("GitTreeState", "git_tree_state", "clean"),
    ("GoVersion", "go_version", "go1.27.2"),
    ("KubeClientVersion", "kube_client_version", "v1.37"),
];

impl BuildInfo {
    fn table(&self) -> &'static [(&'static str, &'static str, &'static str)] {
        match self.0 {
            HelmVersion::V3 => &BUILD_INFO_3,
            HelmVersion::V4 => &BUILD_INFO_4,
        }
    }
}

impl Object for BuildInfo {
    fn go_type(&self) -> Type {
        Type::Named("version.BuildInfo", &Type::Struct)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn field(&self, name: &str) -> Option<Value> {
        self.table().iter().find(|(field, ..)| *field == name).map(|(_, _, value)| (*value).into())
    }

    fn marshalled(&self) -> Option<Value> {
        self.json_fields().map(Value::map)
    }

    fn json_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        Some(self.table().iter().map(|(_, key, value)| (*key, (*value).into())).collect())
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        self.table().iter().map(|(field, _, value)| (*field, (*value).into())).collect()
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.as_any().is::<Self>()
    }
}
