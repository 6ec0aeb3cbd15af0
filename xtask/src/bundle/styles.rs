//! The style sheets, joined into one: `@import`s are replaced by the files that they name, in their order, and what
//! only a reader needs (comments, indentation) is left out.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The style sheet at `main` with everything that it imports, minified. No file, no styles.
///
/// # Errors
/// When a file cannot be read, imports itself, or imports what is not a file of this folder.
pub fn bundle(main: &Path) -> Result<String> {
    if !main.exists() {
        return Ok(String::new());
    }
    Ok(minify(&inline(main, &mut Vec::new())?))
}

fn inline(file: &Path, importing: &mut Vec<PathBuf>) -> Result<String> {
    if importing.iter().any(|known| known == file) {
        bail!("{} imports itself", file.display());
    }
    let text =
        fs::read_to_string(file).with_context(|| format!("could not read {}", file.display()))?;
    importing.push(file.to_path_buf());
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut joined = String::new();
    let without_comments = strip_comments(&text);
    let mut rest = without_comments.as_str();
    while let Some(at) = find_import(rest) {
        joined.push_str(&rest[..at]);
        let (import, after) = Import::parse(&rest[at..])
            .with_context(|| format!("{}: an @import that is not understood", file.display()))?;
        if import.path.contains("://") || import.path.starts_with('/') {
            bail!(
                "{}: only files of this repository may be imported, not {}",
                file.display(),
                import.path
            );
        }
        let imported = inline(&folder.join(&import.path), importing)?;
        joined.push_str(&import.wrap(&imported));
        rest = after;
    }
    joined.push_str(rest);
    importing.pop();
    Ok(joined)
}

/// Where the next `@import` begins, outside of strings.
fn find_import(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, character) in text.char_indices() {
        match quote {
            Some(open) if character == open => quote = None,
            Some(_) => {}
            None if character == '"' || character == '\'' => quote = Some(character),
            None if text[at..].starts_with("@import") => return Some(at),
            None => {}
        }
    }
    None
}

#[derive(Debug, PartialEq, Eq)]
struct Import {
    path: String,
    /// The layer's name; empty for a layer without one.
    layer: Option<String>,
    media: String,
}

impl Import {
    /// Reads `@import "a.css" layer(b) (media);`, the path also as `url(…)`, and returns what follows it.
    fn parse(text: &str) -> Option<(Self, &str)> {
        let text = text.strip_prefix("@import")?.trim_start();
        let (path, rest) = match text.strip_prefix("url(") {
            Some(inside) => inside.split_once(')')?,
            None => {
                let quote = text
                    .chars()
                    .next()
                    .filter(|first| matches!(first, '"' | '\''))?;
                text[1..].split_once(quote)?
            }
        };
        let path = path.trim().trim_matches(['"', '\'']).to_owned();
        let (conditions, after) = rest.split_once(';')?;
        let conditions = conditions.trim();
        let (layer, media) = match conditions.strip_prefix("layer") {
            Some(named) if named.starts_with('(') => {
                let (name, media) = named[1..].split_once(')')?;
                (Some(name.trim().to_owned()), media)
            }
            Some(media) if media.is_empty() || media.starts_with(' ') => {
                (Some(String::new()), media)
            }
            _ => (None, conditions),
        };
        let media = media.trim().to_owned();
        Some((Self { path, layer, media }, after))
    }

    fn wrap(&self, css: &str) -> String {
        let mut wrapped = css.to_owned();
        if let Some(layer) = &self.layer {
            wrapped = format!("@layer {layer}{{{wrapped}}}");
        }
        if !self.media.is_empty() {
            wrapped = format!("@media {}{{{wrapped}}}", self.media);
        }
        wrapped
    }
}

fn strip_comments(css: &str) -> String {
    let mut kept = String::with_capacity(css.len());
    let mut rest = css;
    let mut quote = None;
    while let Some(character) = rest.chars().next() {
        if quote.is_none() && rest.starts_with("/*") {
            rest = rest.split_once("*/").map_or("", |(_, after)| after);
            continue;
        }
        let length = step_in_string(rest, character, &mut quote);
        kept.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    kept
}

/// The bytes of the next character, or of an escaped pair in a string; keeps track of the open quote.
fn step_in_string(rest: &str, character: char, quote: &mut Option<char>) -> usize {
    match *quote {
        Some(_) if character == '\\' => {
            let escaped = rest[1..].chars().next().map_or(0, char::len_utf8);
            return 1 + escaped;
        }
        Some(open) if character == open => *quote = None,
        None if character == '"' || character == '\'' => *quote = Some(character),
        _ => {}
    }
    character.len_utf8()
}

/// Collapses whitespace, and drops it where CSS gives it no meaning: around `{ } ; ,` and after `:`.
/// Not around `+ - > ( )`, where it may separate operands or be a selector of its own.
fn minify(css: &str) -> String {
    let mut minified = String::with_capacity(css.len());
    let mut quote = None;
    let mut space = false;
    let mut rest = css;
    while let Some(character) = rest.chars().next() {
        if quote.is_none() && character.is_whitespace() {
            space = true;
            rest = &rest[character.len_utf8()..];
            continue;
        }
        let previous = minified.chars().next_back();
        if quote.is_none() && matches!(character, '}') && previous == Some(';') {
            minified.pop();
        } else if space && separates(previous, character) {
            minified.push(' ');
        }
        space = false;
        let length = step_in_string(rest, character, &mut quote);
        minified.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    minified
}

/// Whether a space between two characters has a meaning.
fn separates(previous: Option<char>, next: char) -> bool {
    previous.is_some_and(|previous| !matches!(previous, '{' | '}' | ';' | ',' | ':'))
        && !matches!(next, '{' | '}' | ';' | ',')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("xtask-styles-{name}-{}", std::process::id()));
        for (file, text) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn imports_are_replaced_by_their_files_in_order() {
        let folder = folder(
            "order",
            &[
                (
                    "main.css",
                    "@layer tokens, pages;\n@import \"tokens.css\";\n@import url('pages/home.css');\n",
                ),
                ("tokens.css", "@layer tokens { :root { --ink: #111; } }\n"),
                (
                    "pages/home.css",
                    "/* an @import \"x\"; in a comment */\n@import \"./shared.css\" layer(pages);\n.home { color: var(--ink); }",
                ),
                ("pages/shared.css", ".shared { margin: 0 }"),
            ],
        );
        assert_eq!(
            bundle(&folder.join("main.css")).unwrap(),
            "@layer tokens,pages;@layer tokens{:root{--ink:#111}}@layer pages{.shared{margin:0}}.home{color:var(--ink)}"
        );
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_that_imports_itself_is_refused() {
        let folder = folder(
            "cycle",
            &[
                ("main.css", "@import \"a.css\";"),
                ("a.css", "@import \"main.css\";"),
            ],
        );
        let message = bundle(&folder.join("main.css")).unwrap_err().to_string();
        assert!(message.contains("imports itself"), "{message}");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_missing_file_and_one_from_elsewhere_are_refused_by_name() {
        let folder = folder(
            "missing",
            &[
                ("main.css", "@import \"b.css\";"),
                ("web.css", "@import \"https://x/y.css\";"),
            ],
        );
        let message = format!("{:#}", bundle(&folder.join("main.css")).unwrap_err());
        assert!(message.contains("b.css"), "{message}");
        let message = bundle(&folder.join("web.css")).unwrap_err().to_string();
        assert!(message.contains("https://x/y.css"), "{message}");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_layer_and_a_media_query_of_an_import_wrap_the_file() {
        let (import, rest) =
            Import::parse("@import \"a.css\" layer(base) (min-width: 40rem); x").unwrap();
        assert_eq!(rest, " x");
        assert_eq!(
            import.wrap("a{}"),
            "@media (min-width: 40rem){@layer base{a{}}}"
        );
        let (import, _) = Import::parse("@import 'a.css' layer;").unwrap();
        assert_eq!(import.wrap("a{}"), "@layer {a{}}");
    }

    #[test]
    fn spaces_with_a_meaning_are_kept() {
        for (css, expected) in [
            (
                "a  :hover { width : calc( 1px + 2px ) ; }",
                "a :hover{width :calc( 1px + 2px )}",
            ),
            ("a > b , c{ margin: 0  auto }", "a > b,c{margin:0 auto}"),
            (
                "@media (a: b)  and (c) { x { y: z } }",
                "@media (a:b) and (c){x{y:z}}",
            ),
            (
                "q::before { content: \"a ;  } \\\" b\"; }",
                "q::before{content:\"a ;  } \\\" b\"}",
            ),
            ("a { b: 'x /* y */' } /* z */", "a{b:'x /* y */'}"),
            ("标题{}", "标题{}"),
        ] {
            assert_eq!(minify(&strip_comments(css)), expected);
        }
    }

    #[test]
    fn no_main_style_sheet_means_no_styles() {
        assert_eq!(bundle(Path::new("/no/such/main.css")).unwrap(), "");
    }
}
