//! The plugin `PrefixSuffixTransformer`, the older form of two: puts a text before names and one behind them.

use diagnostic::Result;

use crate::context::Context;
use crate::decode::Object;
use crate::resmap::ResMap;

use super::affix::{Affix, Side};
use super::{Builtin, Transformer};

pub(crate) const BUILTIN: Builtin = Builtin {
    kind: "PrefixSuffixTransformer",
    from_fields: |_| Ok(Vec::new()),
    from_config: |node, target| {
        let object = Object::plugin(node, "a PrefixSuffixTransformer")?;
        let both = PrefixSuffixTransformer {
            prefix: Affix::read(&object, "prefix", Side::Before, target.cx)?,
            suffix: Affix::read(&object, "suffix", Side::Behind, target.cx)?,
        };
        object.close(target.cx)?;
        Ok(Box::new(both))
    },
};

#[derive(Debug)]
struct PrefixSuffixTransformer {
    prefix: Affix,
    suffix: Affix,
}

impl Transformer for PrefixSuffixTransformer {
    fn transform(&self, map: &mut ResMap, cx: &Context<'_>) -> Result<()> {
        self.prefix.transform(map, cx)?;
        self.suffix.transform(map, cx)
    }
}
