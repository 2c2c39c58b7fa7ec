//! placeholder
use super::Shown;
pub(super) fn to_python(_shown: &Shown<'_>) -> String {
    String::new()
}
