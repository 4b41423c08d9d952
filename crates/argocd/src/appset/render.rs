//! Templates in a tree: every text in it, and the keys of its maps (utils.go `deeplyReplaceWithFilter`).
//!
//! In: a tree of a shape, a language and parameters. Out: the tree with its texts rendered. Refused, with its place:
//! the first text that is no template or cannot be executed.

use yamltree::Span;

use super::language::{Fault, Language};
use super::params::Params;
use super::schema::Shape;
use super::tree::{Entries, Kind, Tree};

/// A fault of a template, and where the template is.
pub(crate) type Misrendered = (Fault, Span);

/// The tree with its templates rendered.
pub(crate) fn render(
    tree: &Tree,
    shape: Shape,
    language: &Language<'_>,
    params: &Params,
) -> Result<Tree, Misrendered> {
    let text = |text: &str, at: Span| language.render(text, params).map_err(|fault| (fault, at));
    let kind = match (&tree.kind, shape) {
        (Kind::Text(template), _) => Kind::Text(text(template, tree.span)?),
        (Kind::Map(entries), Shape::Values) => values(entries, language, params)?,
        (Kind::Map(entries), Shape::Object(_) | Shape::Generator(_)) => {
            let mut rendered = Entries::new();
            for field in shape.fields() {
                if let Some(value) = entries.get(field.name) {
                    let value = render(value, field.shape, language, params)?;
                    rendered.insert(field.name.to_owned(), value);
                }
            }
            Kind::Map(rendered)
        }
        (Kind::Map(entries), _) => {
            let inner = if let Shape::Map(inner) = shape { *inner } else { Shape::Any };
            let mut rendered = Entries::new();
            for (key, value) in entries {
                // A null is no value to Go's reflection, and is left out.
                if value.is_null() {
                    continue;
                }
                let rendered_value = render(value, inner, language, params)?;
                rendered.insert(text(key, value.key)?, rendered_value);
            }
            Kind::Map(rendered)
        }
        (Kind::List(items), _) => {
            let inner = if let Shape::List(inner) = shape { *inner } else { Shape::Any };
            let items = items.iter().map(|item| render(item, inner, language, params));
            Kind::List(items.collect::<Result<_, _>>()?)
        }
        // What has no type goes through JSON, where all numbers are floats.
        #[expect(clippy::cast_precision_loss, reason = "as Go converts")]
        (Kind::Int(number), Shape::Any) => Kind::Float(*number as f64),
        #[expect(clippy::cast_precision_loss, reason = "as Go converts")]
        (Kind::Uint(number), Shape::Any) => Kind::Float(*number as f64),
        (kind, _) => kind.clone(),
    };
    Ok(tree.with(kind))
}

/// The `values` of a generator within another: those that name what is not known yet wait for their own parameters
/// (utils.go `RenderGeneratorParams`).
fn values(entries: &Entries, language: &Language<'_>, params: &Params) -> Result<Kind, Misrendered> {
    let mut rendered = Entries::new();
    for (key, value) in entries {
        let template = value.text().unwrap_or_default();
        let text = match language.render_strictly(template, params) {
            Ok(text) => text,
            Err(fault) if fault.is_missing => template.to_owned(),
            Err(fault) => return Err((fault, value.span)),
        };
        rendered.insert(key.clone(), value.with(Kind::Text(text)));
    }
    Ok(Kind::Map(rendered))
}

#[cfg(test)]
mod tests {
    use gotemplate::Options;

    use super::super::schema::{optional, pointer};
    use super::*;

    fn rendered(json: &str, shape: Shape) -> String {
        let params = Params::default();
        params.insert("a", "x".into());
        let language = Language::go(Options::default(), &["missingkey=error"]).unwrap();
        let tree = Tree::of_json(serde_json::from_str(json).unwrap(), Span::NONE);
        match render(&tree, shape, &language, &params) {
            Ok(tree) => tree.json(),
            Err((fault, _)) => fault.message,
        }
    }

    const SHAPE: Shape = Shape::Object(&[
        optional("labels", Shape::TEXT_MAP),
        pointer("any", Shape::Any),
        optional("values", Shape::Values),
    ]);

    #[test]
    fn texts_and_keys_are_templates() {
        assert_eq!(rendered(r#"{"labels": {"{{.a}}": "{{.a}}{{.a}}"}}"#, SHAPE), r#"{"labels":{"x":"xx"}}"#);
        assert_eq!(
            rendered(r#"{"any": {"{{.a}}": [1, null, "{{.a}}", true], "n": null}}"#, SHAPE),
            r#"{"any":{"x":[1,null,"x",true]}}"#
        );
        assert_eq!(rendered(r#"{"any": "{{.b}}"}"#, SHAPE), "`.b`: map has no entry for key \"b\"");
    }

    #[test]
    fn values_wait_for_what_is_missing() {
        assert_eq!(
            rendered(r#"{"values": {"{{.a}}": "{{.a}}", "later": "{{.a}}{{.b}}"}}"#, SHAPE),
            r#"{"values":{"later":"{{.a}}{{.b}}","{{.a}}":"x"}}"#
        );
        assert!(rendered(r#"{"values": {"k": "{{.a"}}"#, SHAPE).contains("unclosed action"));
    }
}
