
/// Put here by `ci/mutate`: whether the mutant of this run is this one. With `MUTANTS_REACHED`, no mutant is chosen and each that
/// is asked for is written to that file once.
#[inline(always)]
#[allow(dead_code)]
pub(crate) fn mutant(number: u32) -> bool {
    mutant_switch::is_chosen(number)
}

#[allow(dead_code)]
mod mutant_switch {
    use std::io::Write;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

    const UNREAD: u32 = u32::MAX;
    const NOTING: u32 = u32::MAX - 1;
    static CHOSEN: AtomicU32 = AtomicU32::new(UNREAD);
    static NOTED: [AtomicBool; 16384] = [const { AtomicBool::new(false) }; 16384];

    #[inline(always)]
    pub(crate) fn is_chosen(number: u32) -> bool {
        let chosen = CHOSEN.load(Relaxed);
        if chosen >= NOTING { ask(number) } else { chosen == number }
    }

    #[cold]
    #[inline(never)]
    fn ask(number: u32) -> bool {
        let file = std::env::var_os("MUTANTS_REACHED");
        if CHOSEN.load(Relaxed) == UNREAD {
            let named = std::env::var("MUTANT").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
            CHOSEN.store(if file.is_some() { NOTING } else { named }, Relaxed);
        }
        let Some(file) = file else { return CHOSEN.load(Relaxed) == number };
        let noted = &NOTED[number as usize];
        if !noted.load(Relaxed) && !noted.swap(true, Relaxed) {
            let opened = std::fs::OpenOptions::new().create(true).append(true).open(file);
            let _ = opened.and_then(|mut f| f.write_all(format!("{number}\n").as_bytes()));
        }
        false
    }
}
