//! Where an access to memory of the device lies, in words.
//!
//! Distances are counted one way: to the first byte that the access has outside of the allocation.

use super::Device;

/// Addresses below this are taken for offsets from a null pointer.
const NEAR_NULL: u64 = 1 << 16;

impl Device {
    /// Names the allocation that begins at an address, for what is said about it.
    pub fn name(&mut self, address: u64, name: &str) {
        if let Ok(i) = self.allocations.binary_search_by_key(&address, |a| a.base) {
            self.allocations[i].name = Some(name.to_owned());
        }
    }

    /// An allocation as it is called, with its bytes: `'x' (64 B)` or `allocation 0 (64 B)`.
    pub(crate) fn called(&self, i: usize) -> String {
        match self.allocations.get(i) {
            Some(a) => match &a.name {
                Some(name) => format!("'{name}' ({} B)", a.len),
                None => format!("allocation {i} ({} B)", a.len),
            },
            None => format!("allocation {i}"),
        }
    }

    /// Where an access lies, in words, and the allocation that is meant.
    pub(crate) fn locate(&self, address: u64, bytes: u64) -> (Option<u32>, bool, String) {
        if let Some(words) = strange(address) {
            return (None, false, words);
        }
        let name = |i: usize| u32::try_from(i).ok();
        let ahead = |i: usize| {
            let gap = self.allocations[i].base.saturating_sub(address);
            (name(i), false, format!("it begins {} before {}", counted(gap), self.called(i)))
        };
        let Some(before) = self.find(address) else {
            if self.allocations.is_empty() {
                return (None, false, "nothing is allocated".to_owned());
            }
            let (_, freed, words) = ahead(0);
            return (None, freed, words);
        };
        let a = &self.allocations[before];
        let offset = address - a.base;
        let state = if a.freed { ", which was freed" } else { "" };
        let called = self.called(before);
        if offset < a.len || (offset == 0 && a.freed) {
            let over = if offset.saturating_add(bytes) > a.len { over(0) } else { String::new() };
            return (name(before), a.freed, format!("at byte {offset} of {called}{state}{over}"));
        }
        let past = offset - a.len;
        if self.allocations.get(before + 1).is_some_and(|next| next.base - address < past) {
            return ahead(before + 1);
        }
        (name(before), false, format!("outside of {called}{state}{}", over(past)))
    }

    pub(super) fn place(&self, address: u64, bytes: u64) -> String {
        self.locate(address, bytes).2
    }
}

/// So many bytes.
fn counted(bytes: u64) -> String {
    if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") }
}

/// The first byte outside lies so many bytes behind the last one inside, not counting the one right behind it.
pub(crate) fn over(past: u64) -> String {
    if past == 0 {
        "; the first byte outside is right behind its end".to_owned()
    } else {
        format!("; the first byte outside lies {} behind its end", counted(past))
    }
}

/// Addresses that no allocation has anything to do with.
fn strange(address: u64) -> Option<String> {
    let negative = address as i64;
    if address == 0 {
        Some("that is the null pointer".to_owned())
    } else if address < NEAR_NULL {
        Some(format!("that is {} behind the null pointer: the base of this address is 0", counted(address)))
    } else if negative < 0 {
        Some(format!(
            "as a signed number that is {negative}: a negative address, as an index below 0 from a null pointer gives, or a sum of the \
             wrong sign"
        ))
    } else {
        None
    }
}
