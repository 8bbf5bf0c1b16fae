//! Setting some fields of parameters that have defaults for the others.

macro_rules! with {
    ($($kind:ty),*) => {
        $(impl $kind {
            /// This value with some fields changed: `Self::default().with(|it| it.field = value)`.
            #[must_use]
            pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
                change(&mut self);
                self
            }
        })*
    };
}

with!(
    crate::MenParams,
    crate::lars::LarsOptions,
    crate::operator::ManifoldParams,
    crate::panel::SizeLimits,
    crate::patches::PatchParams,
    crate::penalties::PathPenalty,
    crate::penalties::PenaltyParams,
    crate::penalties::groups::GroupOptions,
    crate::prepare::PrepareParams,
    crate::rules::RuleParams,
    crate::rules::RuleRequest,
    crate::select::Grid,
    crate::stability::StabilityParams
);
