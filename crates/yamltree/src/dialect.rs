//! Which of go-yaml's two generations reads or writes a document.

/// A generation of go-yaml: the YAML that a tool reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// go-yaml v2, the YAML 1.1 of `sigs.k8s.io/yaml`: Helm's values and templates, `kubectl`.
    V2,
    /// go-yaml v3, mostly YAML 1.2: what Kustomize's kyaml reads and writes.
    #[default]
    V3,
}
