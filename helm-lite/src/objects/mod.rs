//! The objects that templates see beside `.Values`.

mod capabilities;
mod chart;
mod files;

use gotemplate::{Map, Type, Value};

use crate::options::Options;
pub(crate) use capabilities::Capabilities;
pub(crate) use chart::metadata;
pub(crate) use files::Files;

/// Helm's named type of maps, as `typeOf` prints it.
const VALUES: Type = Type::Named("common.Values", &Type::MAP);

/// A map of Helm's own type that holds what another one holds now.
pub(crate) fn values(map: &Map) -> Map {
    Map::typed(VALUES, map.entries().clone())
}

/// `.Release`.
pub(crate) fn release(options: &Options<'_>) -> Value {
    Value::map([
        ("Name", options.release_name.as_str().into()),
        ("Namespace", options.namespace.as_str().into()),
        ("IsUpgrade", options.is_upgrade.into()),
        ("IsInstall", (!options.is_upgrade).into()),
        ("Revision", Value::int(options.revision)),
        ("Service", "Helm".into()),
    ])
}

/// `.Template`, for the template at `path` of the chart whose templates are below `base`.
pub(crate) fn template(path: &str, base: &str) -> Value {
    values(&Map::new([("Name", path.into()), ("BasePath", Value::from(base))])).into()
}
