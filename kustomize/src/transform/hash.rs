//! `HashTransformer`: appends content hashes at the place where it stands in `transformers:`, instead of at the end.

use diagnostic::Result;

use super::{Builtin, Transformer};
use crate::context::Context;
use crate::hash;
use crate::resmap::ResMap;

pub(crate) const BUILTIN: Builtin = Builtin {
    kind: "HashTransformer",
    from_fields: |_| Ok(Vec::new()),
    from_config: |_, _| Ok(Box::new(HashTransformer)),
};

struct HashTransformer;

impl Transformer for HashTransformer {
    fn transform(&self, map: &mut ResMap, _: &Context<'_>) -> Result<()> {
        hash::append_hashes(map)
    }
}
