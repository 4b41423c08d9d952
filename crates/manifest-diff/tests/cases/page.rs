//! The page in a browser: it opens, searches, filters and folds, and nothing in it complains.
//!
//! With `SCREENSHOTS=FOLDER` pictures of it are left there for a person to look at.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use argocd::objects::read;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use libtest_mimic::{Failed, Trial};
use manifest_diff::{Format, FormatOptions, Options, Review, SecretKey, Target, TargetKind, review};
use yamltree::Source;

use crate::browser::Browser;
use crate::case::Case;

/// JavaScript expression for the top of the last target.
const LAST: &str = "[...document.querySelectorAll('.target')].at(-1).offsetTop - 80";

pub(crate) fn trials(cases: &Path) -> Vec<Trial> {
    let (release, hostile) = (cases.join("release"), cases.join("hostile"));
    vec![
        Trial::test("page: opens, searches and folds", move || opens(&release)),
        Trial::test("page: text stays text", move || stays_text(&hostile)),
        Trial::test("page: ten megabytes of diffs", large),
    ]
}

fn page(review: &Review, options: &FormatOptions) -> Result<(tempfile::TempDir, Browser), Failed> {
    let format = Format::named("html").ok_or("there is no page")?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("review.html");
    fs::write(&file, (format.write)(review, options))?;
    let browser = Browser::open(&file);
    Ok((folder, browser))
}

fn is(browser: &mut Browser, expression: &str, want: &str) -> Result<(), Failed> {
    let value = browser.eval(expression);
    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if value == want { Ok(()) } else { Err(format!("{expression} is {value}, not {want}").into()) }
}

fn complains(browser: &Browser) -> Result<(), Failed> {
    if browser.complaints.is_empty() { Ok(()) } else { Err(browser.complaints.join("\n").into()) }
}

/// Types a search, and waits until it is done.
fn search(browser: &mut Browser, text: &str) {
    browser.eval(&format!(
        "(search.value = {text:?}, search.dispatchEvent(new Event('input')), await new Promise(done => setTimeout(done, 150)))"
    ));
}

fn opens(folder: &Path) -> Result<(), Failed> {
    let (case, review) = Case::read(folder)?;
    let (_file, mut browser) = page(&review, &case.options())?;
    let shown = "document.querySelectorAll('details.object:not([hidden])').length";
    is(&mut browser, "document.querySelector('h1').textContent", "main → release-2")?;
    is(&mut browser, shown, "7")?;
    is(&mut browser, "document.querySelectorAll('.diff table').length", "0")?;
    pictures(&mut browser, "closed", "0")?;
    // Names, and what only diffs have.
    search(&mut browser, "SERVICE shop/web");
    is(&mut browser, shown, "1")?;
    search(&mut browser, "workers 4");
    is(&mut browser, shown, "1")?;
    is(&mut browser, "count.textContent", "1 of 7 objects")?;
    is(&mut browser, "document.querySelectorAll('.target:not([hidden])').length", "1")?;
    search(&mut browser, "no such thing");
    is(
        &mut browser,
        "[document.getElementById('nothing').hidden, document.querySelectorAll('.target:not([hidden])').length].join()",
        "false,0",
    )?;
    search(&mut browser, "");
    browser.eval("document.querySelector('.filter[value=changed]').click()");
    is(&mut browser, shown, "3")?;
    browser.eval("document.querySelector('.filter[value=changed]').click()");
    browser.eval("(kind.value = 'Deployment', kind.dispatchEvent(new Event('change')))");
    is(&mut browser, shown, "1")?;
    browser.eval("(kind.value = '', kind.dispatchEvent(new Event('change')))");
    // By keyboard: to the first one, and all open; then side by side.
    browser.press("j");
    is(&mut browser, "document.activeElement.parentElement.className", "object")?;
    browser.press("e");
    browser.eval("await new Promise(done => setTimeout(done, 100))");
    is(&mut browser, "document.querySelectorAll('details.object[open] .diff table').length", "7")?;
    is(
        &mut browser,
        "[...document.querySelectorAll('.a mark')].map(mark => mark.textContent).includes('4')",
        "true",
    )?;
    pictures(&mut browser, "inline", LAST)?;
    browser.press("s");
    is(&mut browser, "document.querySelectorAll('.diff table.split').length", "7")?;
    pictures(&mut browser, "split", LAST)?;
    browser.press("/");
    is(&mut browser, "document.activeElement.id", "search")?;
    browser.eval("document.activeElement.blur()");
    browser.press("e");
    is(&mut browser, "document.querySelectorAll('details.object[open]').length", "0")?;
    complains(&browser)
}

fn stays_text(folder: &Path) -> Result<(), Failed> {
    let (case, review) = Case::read(folder)?;
    let (_file, mut browser) = page(&review, &case.options())?;
    browser.press("e");
    browser.eval("await new Promise(done => setTimeout(done, 100))");
    is(&mut browser, "document.querySelectorAll('img, main a:not([href^=\"#\"]), .diff b').length", "0")?;
    is(&mut browser, "document.querySelectorAll('script').length", "3")?;
    is(&mut browser, "document.body.textContent.includes('</script>: two & \"three\"')", "true")?;
    search(&mut browser, "</details></details>");
    is(&mut browser, "document.querySelectorAll('details.object:not([hidden])').length", "1")?;
    complains(&browser)
}

/// A page of this size opens, finds its last entry, and shows the longest diff in parts.
fn large() -> Result<(), Failed> {
    let side = |value: &str| -> Result<Vec<Target>, Failed> {
        let mut text = String::new();
        for object in 0..500 {
            let _ =
                write!(text, "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: map-{object}}}\ndata:\n");
            for line in 0..if object == 499 { 20_000 } else { 180 } {
                let _ = writeln!(text, "  key-{line}: a value that is {value} in this line {object}");
            }
            text += "---\n";
        }
        let source = Source { name: "maps.yaml".to_owned(), text: text.into() };
        let objects = read(&Arc::new(source)).map_err(|error| error.to_string())?;
        Ok(vec![Target::rendered(TargetKind::Files, "maps", objects)])
    };
    let options = Options { secret_key: SecretKey::new([1; 32]) };
    let review = review(&side("old")?, &side("new")?, &options);
    let (file, mut browser) = page(&review, &FormatOptions::default())?;
    let size = fs::metadata(file.path().join("review.html"))?.len();
    assert!(size > 10_000_000, "{size}");
    search(&mut browser, "new in this line 499");
    is(&mut browser, "document.querySelectorAll('details.object:not([hidden])').length", "1")?;
    browser.eval("document.querySelector('details.object:not([hidden]) summary').click()");
    browser.eval("await new Promise(done => setTimeout(done, 200))");
    is(&mut browser, "document.querySelectorAll('.diff tr').length", "1500")?;
    browser.eval("document.querySelector('.more').click()");
    is(&mut browser, "document.querySelectorAll('.diff tr').length", "3000")?;
    complains(&browser)
}

fn pictures(browser: &mut Browser, name: &str, from: &str) -> Result<(), Failed> {
    let Some(folder) = std::env::var_os("SCREENSHOTS") else { return Ok(()) };
    for (kind, width, height, scheme) in
        [("light", 1280, 1600, "light"), ("dark", 1280, 1600, "dark"), ("phone", 390, 844, "light")]
    {
        browser.look(width, height, scheme);
        browser.eval(&format!("scrollTo(0, {from})"));
        let picture = STANDARD.decode(browser.screenshot())?;
        fs::write(Path::new(&folder).join(format!("{name}-{kind}.png")), picture)?;
    }
    browser.look(1280, 1600, "light");
    Ok(())
}
