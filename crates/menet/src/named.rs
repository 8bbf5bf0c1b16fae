//! Choices that have a name: one list serves the library, the command, parameter files and the tests.

use crate::error::{Error, Result};

/// A parameter with a few named values.
pub trait Named: Copy + 'static {
    /// The parameter's name.
    const PARAMETER: &'static str;

    /// Every value.
    const ALL: &'static [Self];

    /// The name of this value.
    fn name(self) -> &'static str;

    /// The value called `name`.
    ///
    /// # Errors
    /// When there is none; the message lists those there are.
    fn from_name(name: &str) -> Result<Self> {
        Self::ALL.iter().copied().find(|value| value.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|value| value.name()).collect();
            Error::parameter(Self::PARAMETER, format!("\"{name}\""), format!("one of {}", names.join(", ")))
        })
    }
}

/// Gives every value of an enum its name: `named!(Kind, "parameter", First = "first", Second = "second")`. The compiler asks for all values.
macro_rules! named {
    ($kind:ident, $parameter:literal, $($value:ident = $name:literal),+ $(,)?) => {
        impl $crate::named::Named for $kind {
            const PARAMETER: &'static str = $parameter;
            const ALL: &'static [Self] = &[$($kind::$value),+];

            fn name(self) -> &'static str {
                match self {
                    $($kind::$value => $name),+
                }
            }
        }
    };
}

pub(crate) use named;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::NeighborSearch;
    use crate::operator::Definiteness;
    use crate::plan::{GramRequest, RouteRequest};
    use crate::rules::Metric;
    use crate::targets::TargetKind;

    fn round_trip<T: Named + PartialEq + std::fmt::Debug>() {
        for &value in T::ALL {
            assert_eq!(T::from_name(value.name()).unwrap(), value);
        }
        let message = T::from_name("Other").unwrap_err().to_string();
        assert!(message.contains(T::PARAMETER) && message.contains(T::ALL[0].name()), "{message}");
    }

    #[test]
    fn every_value_is_found_by_its_name() {
        round_trip::<Metric>();
        round_trip::<Definiteness>();
        round_trip::<NeighborSearch>();
        round_trip::<RouteRequest>();
        round_trip::<GramRequest>();
        round_trip::<TargetKind>();
    }
}
