//! Files with their brotli and gzip forms beside them, so that the server compresses nothing while it serves.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::Write;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::content_hash;

const BROTLI_QUALITY: u32 = 11;
const BROTLI_WINDOW_BITS: u32 = 22;
const BROTLI_BUFFER_BYTES: usize = 1 << 16;
/// What is text, or as compressible as text. Pictures and fonts are compressed already.
const COMPRESSIBLE: [&str; 9] = [
    "js",
    "wasm",
    "css",
    "svg",
    "html",
    "txt",
    "json",
    "xml",
    "webmanifest",
];

/// Bytes of one file or of several, in its three forms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    pub plain: usize,
    pub brotli: usize,
    pub gzip: usize,
}

impl AddAssign for Sizes {
    fn add_assign(&mut self, other: Self) {
        self.plain += other.plain;
        self.brotli += other.brotli;
        self.gzip += other.gzip;
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kb = |bytes: usize| bytes.div_ceil(1000);
        write!(
            formatter,
            "{} kB, brotli {} kB, gzip {} kB",
            kb(self.plain),
            kb(self.brotli),
            kb(self.gzip)
        )
    }
}

/// Compresses files, and remembers the results by their content: brotli at its best takes seconds for a wasm module.
pub struct Compressor {
    cache: PathBuf,
    used: RefCell<HashSet<OsString>>,
}

impl Compressor {
    pub fn new(cache: PathBuf) -> Self {
        Self {
            cache,
            used: RefCell::default(),
        }
    }

    /// Writes `content` to `path`, and its two compressed forms where they are smaller.
    ///
    /// # Errors
    /// When a file or folder cannot be written.
    pub fn write(&self, path: &Path, content: &[u8]) -> Result<Sizes> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("could not create {}", folder.display()))?;
        }
        let put = |path: &Path, bytes: &[u8]| {
            fs::write(path, bytes).with_context(|| format!("could not write {}", path.display()))
        };
        put(path, content)?;
        let mut sizes = Sizes {
            plain: content.len(),
            brotli: content.len(),
            gzip: content.len(),
        };
        if !is_compressible(path) {
            return Ok(sizes);
        }
        for (extension, compress, size) in [
            (
                "br",
                brotli as fn(&[u8]) -> Result<Vec<u8>>,
                &mut sizes.brotli,
            ),
            ("gz", gzip, &mut sizes.gzip),
        ] {
            let compressed = self.compressed(content, extension, compress)?;
            if compressed.len() < content.len() {
                *size = compressed.len();
                put(&with_suffix(path, extension), &compressed)?;
            }
        }
        Ok(sizes)
    }

    /// Removes what was remembered and not used since this compressor was made.
    pub fn forget_unused(&self) {
        let used = self.used.borrow();
        for entry in fs::read_dir(&self.cache).into_iter().flatten().flatten() {
            if !used.contains(&entry.file_name()) {
                // What cannot be removed only takes room.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn compressed(
        &self,
        content: &[u8],
        extension: &str,
        compress: fn(&[u8]) -> Result<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        let name = format!("{}.{extension}", content_hash(content));
        let remembered = self.cache.join(&name);
        self.used.borrow_mut().insert(name.into());
        if let Ok(bytes) = fs::read(&remembered) {
            return Ok(bytes);
        }
        let bytes = compress(content)?;
        fs::create_dir_all(&self.cache)
            .context("could not create the folder of compressed files")?;
        let unfinished = with_suffix(&remembered, "new");
        fs::write(&unfinished, &bytes)
            .and_then(|()| fs::rename(&unfinished, &remembered))
            .context("could not remember a compressed file")?;
        Ok(bytes)
    }
}

fn is_compressible(path: &Path) -> bool {
    path.extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|extension| COMPRESSIBLE.contains(&extension))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

fn brotli(content: &[u8]) -> Result<Vec<u8>> {
    let mut compressed = Vec::new();
    let mut writer = brotli::CompressorWriter::new(
        &mut compressed,
        BROTLI_BUFFER_BYTES,
        BROTLI_QUALITY,
        BROTLI_WINDOW_BITS,
    );
    writer.write_all(content).context("brotli failed")?;
    // The end of the stream is written as the writer goes.
    drop(writer);
    Ok(compressed)
}

fn gzip(content: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).context("gzip failed")?;
    encoder.finish().context("gzip failed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn folder(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("xtask-compressed-{name}-{}", std::process::id()))
    }

    #[test]
    fn both_forms_unpack_to_the_content() {
        let folder = folder("forms");
        let content = "seat ".repeat(500);
        let path = folder.join("site/a.css");
        let sizes = Compressor::new(folder.join("cache"))
            .write(&path, content.as_bytes())
            .unwrap();
        assert!(sizes.brotli < sizes.plain && sizes.gzip < sizes.plain);

        let mut unpacked = String::new();
        let bytes = fs::read(with_suffix(&path, "br")).unwrap();
        brotli::Decompressor::new(bytes.as_slice(), 4096)
            .read_to_string(&mut unpacked)
            .unwrap();
        assert_eq!(unpacked, content);

        unpacked.clear();
        let bytes = fs::read(with_suffix(&path, "gz")).unwrap();
        flate2::read::GzDecoder::new(bytes.as_slice())
            .read_to_string(&mut unpacked)
            .unwrap();
        assert_eq!(unpacked, content);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn pictures_and_what_would_grow_have_no_compressed_form() {
        let folder = folder("none");
        let compressor = Compressor::new(folder.join("cache"));
        compressor.write(&folder.join("a.png"), &[7; 500]).unwrap();
        compressor.write(&folder.join("a.css"), b"a{}").unwrap();
        for absent in ["a.png.br", "a.png.gz", "a.css.br", "a.css.gz"] {
            assert!(!folder.join(absent).exists(), "{absent}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_no_longer_used_is_forgotten() {
        let folder = folder("forget");
        let first = Compressor::new(folder.join("cache"));
        first
            .write(&folder.join("a.css"), "one ".repeat(100).as_bytes())
            .unwrap();
        let second = Compressor::new(folder.join("cache"));
        second
            .write(&folder.join("a.css"), "two ".repeat(100).as_bytes())
            .unwrap();
        assert_eq!(fs::read_dir(folder.join("cache")).unwrap().count(), 4);
        second.forget_unused();
        assert_eq!(fs::read_dir(folder.join("cache")).unwrap().count(), 2);
        fs::remove_dir_all(&folder).unwrap();
    }
}
