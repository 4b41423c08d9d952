//! `nameSuffix`, and the plugin `SuffixTransformer`: puts a text behind names.

use crate::decode::Object;

use super::Builtin;
use super::affix::{Affix, Side};

pub(crate) const BUILTIN: Builtin = Builtin {
    kind: "SuffixTransformer",
    from_fields: |target| Affix::from_field("nameSuffix", Side::Behind, &target.config.name_suffix, target),
    from_config: |node, target| {
        let object = Object::plugin(node, "a SuffixTransformer")?;
        let affix = Affix::read(&object, "suffix", Side::Behind, target.cx)?;
        object.close(target.cx)?;
        Ok(Box::new(affix))
    },
};
