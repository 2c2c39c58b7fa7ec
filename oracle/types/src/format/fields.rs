//! The fields of a format by name, so that what concerns all formats alike (sizes in bytes, comparisons, corruption in
//! tests, serialisation) is written once.

/// One field of a format's parts, read.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "named as their element types")]
pub enum FieldRef<'a, T> {
    /// A dimension or parameter.
    Extent(&'a usize),
    /// A yes or no.
    Flag(&'a bool),
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
    /// Matrix elements.
    Values(&'a [T]),
}

/// One field of a format's parts, to be changed.
#[derive(Debug)]
#[expect(missing_docs, reason = "named as their element types")]
pub enum FieldMut<'a, T> {
    /// A dimension or parameter.
    Extent(&'a mut usize),
    /// A yes or no.
    Flag(&'a mut bool),
    U8(&'a mut Vec<u8>),
    U16(&'a mut Vec<u16>),
    U32(&'a mut Vec<u32>),
    U64(&'a mut Vec<u64>),
    /// Matrix elements.
    Values(&'a mut Vec<T>),
}

/// Parts whose fields can be listed.
pub trait Fields<T> {
    /// Every field with its name, in declaration order.
    fn fields(&self) -> Vec<(&'static str, FieldRef<'_, T>)>;

    /// Every field with its name, in declaration order.
    fn fields_mut(&mut self) -> Vec<(&'static str, FieldMut<'_, T>)>;

    /// Bytes of all index arrays (offsets, indices, bitmaps); dimensions and parameters are not counted.
    fn index_bytes(&self) -> u64 {
        self.fields().iter().map(|(_, field)| field.index_bytes()).sum()
    }

    /// Bytes of the stored elements, pads included.
    fn value_bytes(&self) -> u64 {
        let values = self.fields();
        let lengths = values.iter().map(|(_, field)| match field {
            FieldRef::Values(v) => v.len(),
            _ => 0,
        });
        lengths.sum::<usize>() as u64 * size_of::<T>() as u64
    }
}

impl<T> FieldRef<'_, T> {
    /// Bytes of an index array, 0 for everything else.
    #[must_use]
    pub fn index_bytes(&self) -> u64 {
        (match self {
            FieldRef::Extent(_) | FieldRef::Flag(_) | FieldRef::Values(_) => 0,
            FieldRef::U8(v) => size_of_val(*v),
            FieldRef::U16(v) => size_of_val(*v),
            FieldRef::U32(v) => size_of_val(*v),
            FieldRef::U64(v) => size_of_val(*v),
        }) as u64
    }
}

/// Lists the fields of a parts struct: `fields!(CooParts { rows: Extent, row_idx: U32, values: Values })`.
macro_rules! fields {
    ($parts:ident { $($name:ident: $kind:ident),* $(,)? }) => {
        impl<T> crate::format::Fields<T> for $parts<T> {
            fn fields(&self) -> Vec<(&'static str, crate::format::FieldRef<'_, T>)> {
                vec![$((stringify!($name), crate::format::FieldRef::$kind(&self.$name))),*]
            }

            fn fields_mut(&mut self) -> Vec<(&'static str, crate::format::FieldMut<'_, T>)> {
                vec![$((stringify!($name), crate::format::FieldMut::$kind(&mut self.$name))),*]
            }
        }
    };
}
pub(super) use fields;
