//! `namePrefix`, and the plugin `PrefixTransformer`: puts a text before names.

use crate::decode::Object;

use super::Builtin;
use super::affix::{Affix, Side};

pub(crate) const BUILTIN: Builtin = Builtin {
    kind: "PrefixTransformer",
    from_fields: |target| Affix::from_field("namePrefix", Side::Before, &target.config.name_prefix, target),
    from_config: |node, target| {
        let object = Object::plugin(node, "a PrefixTransformer")?;
        let affix = Affix::read(&object, "prefix", Side::Before, target.cx)?;
        object.close(target.cx)?;
        Ok(Box::new(affix))
    },
};
