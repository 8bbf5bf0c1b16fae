//! Values of flags that are more than one number or word.

use menet::Named;
use menet::rules::{Metric, Priors};

/// A comma-separated list of numbers.
#[derive(Debug, Clone)]
struct Factors(Vec<f64>);

impl std::str::FromStr for Factors {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |field: &str| field.trim().parse().map_err(|_| format!("{field:?} is not a number"));
        text.split(',').map(number).collect::<Result<_, _>>().map(Factors)
    }
}

/// `train`, `equal`, or a comma-separated list of numbers.
#[derive(Debug, Clone)]
pub(crate) struct PriorsText(pub(crate) Priors);

impl std::str::FromStr for PriorsText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "train" => Ok(PriorsText(Priors::Train)),
            "equal" => Ok(PriorsText(Priors::Equal)),
            _ => match text.parse::<Factors>() {
                Ok(Factors(numbers)) => Ok(PriorsText(Priors::Given(numbers))),
                Err(problem) => {
                    Err(format!("{problem}; use train, equal, or one number per class, as 0.2,0.8"))
                }
            },
        }
    }
}

/// Reads `--metric` where it overrides the metric of a model.
pub(crate) fn metric(text: &str) -> Result<Metric, String> {
    Metric::from_name(text).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priors_are_read() {
        let read = |text: &str| text.parse::<PriorsText>().map(|priors| priors.0);
        assert_eq!(read("train"), Ok(Priors::Train));
        assert_eq!(read("equal"), Ok(Priors::Equal));
        assert_eq!(read("0.2, 0.8"), Ok(Priors::Given(vec![0.2, 0.8])));
        let error = read("even").unwrap_err();
        assert!(error.contains("\"even\"") && error.contains("train, equal"), "{error}");
    }
}
