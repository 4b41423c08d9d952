//! Rows as the table that helm prints: cells filled up with blanks, tabs between them.

use std::fmt::Write as _;

/// Rows of the same length as lines, without a line break at the end. Cells longer than `widest` are cut.
pub(super) fn table<const N: usize>(rows: &[[String; N]], widest: usize) -> String {
    let rows: Vec<[String; N]> =
        rows.iter().map(|row| row.each_ref().map(|cell| cut(cell, widest))).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; N] = std::array::from_fn(width);
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        text.push_str(if at == 0 { "" } else { "\n" });
        for (column, cell) in row.iter().enumerate() {
            let tab = if column == 0 { "" } else { "\t" };
            let _ = write!(text, "{tab}{cell:0$}", widths[column]);
        }
    }
    text
}

/// As Helm's tables do: three dots in place of what does not fit.
fn cut(cell: &str, widest: usize) -> String {
    if cell.chars().count() <= widest {
        return cell.to_owned();
    }
    let kept: String = cell.chars().take(widest.saturating_sub(3)).collect();
    format!("{kept}...")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: what `helm repo list` 4.3.1 prints of two repositories.
    #[test]
    fn cells_are_filled_up() {
        let row = |name: &str, url: &str| [name.to_owned(), url.to_owned()];
        let rows =
            [row("NAME", "URL"), row("one", "http://127.0.0.1:18801/"), row("two", "http://127.0.0.1:18802")];
        assert_eq!(
            table(&rows, usize::MAX),
            "NAME\tURL                    \none \thttp://127.0.0.1:18801/\ntwo \thttp://127.0.0.1:18802 "
        );
        assert_eq!(table(&[row("abcdefgh", "")], 6), "abc...\t");
    }
}
