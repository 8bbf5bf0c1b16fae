//! Rates over the repeats: at each of ten dimensions, one box per method.

use serde::Serialize;

use super::lines::percentages;
use crate::curves::{TrainingSetting, curves, shown_dimensions};
use crate::names::{setting as named, shown};
use crate::palette::look;
use crate::study::Study;

/// Boxes of quartiles and median with whiskers and points, one per dimension and method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Boxes {
    /// What is shown, and of which data.
    pub(crate) title: String,
    /// The dimensions, from left to right.
    pub(crate) dimensions: Vec<usize>,
    /// The methods, in the order of their boxes.
    pub(crate) methods: Vec<BoxesOfMethod>,
    /// The ends of the vertical axis.
    pub(crate) limits: (f64, f64),
}

/// The boxes of a method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct BoxesOfMethod {
    /// Its name.
    pub(crate) name: String,
    /// Its colour on light backgrounds.
    pub(crate) colour: &'static str,
    /// Its rates in percent at every dimension, one per repeat.
    pub(crate) rates: Vec<Vec<f64>>,
}

/// None where the setting has no results.
pub(crate) fn boxes(study: &Study, setting: &TrainingSetting) -> Option<Boxes> {
    let curves = curves(study, setting);
    let dimensions = shown_dimensions(&curves);
    let method = |(number, name, curve): &(usize, String, crate::curves::Curve)| BoxesOfMethod {
        name: shown(name, 18),
        colour: look(*number).colour,
        rates: dimensions.iter().map(|d| curve.get(d).cloned().unwrap_or_default()).collect(),
    };
    let methods: Vec<BoxesOfMethod> = curves.iter().map(method).collect();
    let rates = || methods.iter().flat_map(|method| method.rates.iter().flatten().copied());
    let limits = percentages((rates().reduce(f64::min)?, rates().reduce(f64::max)?));
    let title = format!("Rates over the repeats: {}", named(&setting.data, setting.train));
    Some(Boxes { title, dimensions, methods, limits })
}
