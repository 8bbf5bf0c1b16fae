//! How much memory is available, checked before a file decides how much is used.
//!
//! It is the smallest of three numbers: what the system can give without swapping, what a control group leaves, and what a
//! limit on the address space (`ulimit -v`) leaves.

use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};

/// How many bytes are read before available memory is checked again.
const STEP: usize = 16 << 20;

/// The number of bytes that are still available.
pub fn available() -> u64 {
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    let group = system.cgroup_limits().map_or(u64::MAX, |group| group.free_memory);
    system.available_memory().min(group).min(address_space())
}

/// What a limit on the address space leaves; the largest number without one.
#[cfg(target_os = "linux")]
pub fn address_space() -> u64 {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current;
    let used = || {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let size = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
        Some(size.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
    };
    limit.map_or(u64::MAX, |limit| limit.saturating_sub(used().unwrap_or(0)))
}

/// What a limit on the address space leaves; the largest number without one.
#[cfg(not(target_os = "linux"))]
pub fn address_space() -> u64 {
    u64::MAX
}

/// Refuses to use more memory than is available.
///
/// # Errors
/// When fewer than `bytes` are available.
pub fn check(path: &Path, bytes: u64, what: &str) -> Result<()> {
    let left = available();
    if bytes <= left {
        return Ok(());
    }
    Err(Error::input(path, too_little(what, bytes, left)))
}

fn too_little(what: &str, bytes: u64, left: u64) -> String {
    format!(
        "{what} take about {} of memory, but only {} are available; use a machine with more memory, or leave out columns or \
         samples (`menet transform` reads text, Parquet and .npy files of any size)",
        size(bytes),
        size(left)
    )
}

/// Reserves memory for `count` more numbers.
///
/// # Errors
/// When there is too little memory; the message says how much is needed.
pub(crate) fn reserve(values: &mut Vec<f64>, count: usize, path: &Path) -> Result<()> {
    if values.capacity() - values.len() >= count {
        return Ok(());
    }
    let needed = values.len().saturating_add(count);
    let left = available();
    // Double the room if possible, because growing often is slow.
    let roomy = needed.max(values.len().saturating_mul(2));
    let room = if roomy as u64 * 8 <= left { roomy } else { needed };
    let bytes = (room as u64).saturating_mul(8);
    let refused = || Error::input(path, too_little(&format!("{needed} numbers"), bytes, left));
    if bytes > left {
        return Err(refused());
    }
    values.try_reserve_exact(room - values.len()).map_err(|_| refused())
}

/// All bytes of a reader, as long as memory lasts: a small compressed file may be large.
///
/// # Errors
/// When the bytes cannot be read, or are too many.
pub(crate) fn read_to_end(reader: &mut dyn Read, path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        if bytes.capacity() - bytes.len() < STEP {
            let room = bytes.len().max(STEP);
            check(path, (bytes.len() + room) as u64, "its contents")?;
            let refused = |_| Error::input(path, "its contents are larger than the memory that is left");
            bytes.try_reserve_exact(room).map_err(refused)?;
        }
        let read = reader.take(STEP as u64).read_to_end(&mut bytes).map_err(|e| Error::input(path, e))?;
        if read < STEP {
            return Ok(bytes);
        }
    }
}

/// A size for people, such as `1.5 GB`.
pub fn size(bytes: u64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && value < 99.95);
    format!("{value:.digits$} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_readable() {
        let sizes = [0, 999, 1000, 16_000_000, 123_456_789, 2_500_000_000, u64::MAX].map(size);
        assert_eq!(sizes, ["0 bytes", "999 bytes", "1.0 kB", "16.0 MB", "123 MB", "2.5 GB", "18.4 EB"]);
    }

    #[test]
    fn what_cannot_be_had_is_refused() {
        let mut values = vec![1.0];
        let message = reserve(&mut values, 1 << 50, Path::new("a.csv")).unwrap_err().to_string();
        assert!(
            message.contains("a.csv") && message.contains("9.0 PB") && message.contains("available"),
            "{message}"
        );
        reserve(&mut values, 100, Path::new("a.csv")).unwrap();
        assert!(values.capacity() > 100);
        assert!(check(Path::new("a"), u64::MAX, "all").is_err());
        assert!(available() > 1 << 20);
    }

    #[test]
    fn all_bytes_are_read() {
        let bytes: Vec<u8> = (0..STEP + 5).map(|i| i as u8).collect();
        assert_eq!(read_to_end(&mut &bytes[..], Path::new("a")).unwrap(), bytes);
        assert_eq!(read_to_end(&mut &b""[..], Path::new("a")).unwrap(), b"");
    }
}
