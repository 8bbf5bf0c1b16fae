//! How far a model can be trusted: validation on samples it has not seen, permuted labels, half-samples.

pub mod cluster;
mod results;

pub use results::{
    Assessed, Design, Interval, Models, PanelEntry, PermutationTest, RepeatRow, SampleResult, SizeRow,
    StabilityFound, Validation,
};
