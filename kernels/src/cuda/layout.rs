//! Structs that kernels take by value: Rust and CUDA C++ must agree where every field is.
//!
//! ```text
//! layout! { Listed                                          SIZE_OF(Listed, 72);              listed.cu
//!     ListedArg as "Listed", 72: { ptr: 0, .. }             OFFSET_OF(Listed, ptr, 0); ..
//! }                    |                                                |
//!            rustc checks these numbers                        NVRTC checks those       a test compares the two lists
//! ```

/// `layout! { SOURCE  TYPE as "STRUCT", SIZE: { FIELD: OFFSET, .. } .. }`: sizes and offsets in bytes. The fields of the Rust type
/// have the names of the C++ struct's, and each must be listed.
macro_rules! layout {
    ($source:ident $($rust:ident as $name:literal, $size:literal: { $($field:ident: $at:literal),* $(,)? })*) => {
        $(
            const _: () = {
                const EVERY_FIELD_IS_LISTED: fn(&$rust) = |$rust { $($field: _),* }| {};
                let _ = EVERY_FIELD_IS_LISTED;
                assert!(size_of::<$rust>() == $size);
                $(assert!(std::mem::offset_of!($rust, $field) == $at);)*
            };

            impl crate::cuda::launch::Parameter for $rust {
                const BYTES: usize = $size;
                const ALIGN: usize = align_of::<$rust>();

                fn write(&self, to: &mut [u8]) {
                    $(to[$at..][..size_of_val(&self.$field)].copy_from_slice(&self.$field.to_ne_bytes());)*
                }
            }
        )*

        #[cfg(test)]
        #[test]
        fn the_source_has_every_field_at_the_same_place() {
            let source = crate::cuda::source::Source::$source.row();
            let wanted = [$(
                format!("SIZE_OF({}, {});", $name, $size),
                $(format!("OFFSET_OF({}, {}, {});", $name, stringify!($field), $at),)*
            )*];
            for line in wanted {
                assert!(source.text.contains(&line), "{}.cu does not assert {line}", source.name);
            }
        }
    };
}
pub(super) use layout;
