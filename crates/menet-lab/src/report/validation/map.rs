//! The samples on the axes of the final model, or on those of a model that has not seen some of them.

use faer::Mat;
use menet::Men;
use serde_json::{Value, json};

use super::format::count;
use super::{Page, PageSubject, model, sample_name, spaced};
use crate::error::Result;
use crate::report::script::number;

/// The most samples that are drawn.
const MOST: usize = 5000;

pub(super) fn add(subject: &PageSubject<'_>, page: &mut Page) -> Result<()> {
    let Some(models) = &subject.validation.models else {
        let words =
            "<p>Only the models of MEN have axes to show samples on, and the first method is another.</p>\n";
        page.section("map", "Sample map", "Sample map", words);
        return Ok(());
    };
    let n = subject.data.samples();
    let drawn = spaced(n, MOST);
    let mut held = vec![Value::Null; n];
    models.split.train.iter().for_each(|&i| held[i] = false.into());
    models.split.test.iter().for_each(|&i| held[i] = true.into());
    let all = models.all.project(subject.data)?;
    let fold = models.fold.project(subject.data)?;
    let picked = |men: &Men, z: &Mat<f64>| {
        json!({
            "axes": z.ncols(),
            "scores": drawn.iter().map(|&i| z.row(i).iter().map(|&z| number(z)).collect::<Value>()).collect::<Value>(),
            "rule": model::rule(subject, men),
        })
    };
    let samples = &subject.first.samples;
    page.values.insert("map".to_owned(), json!({
        "names": drawn.iter().map(|&i| sample_name(&samples[i])).collect::<Value>(),
        "class": drawn.iter().map(|&i| subject.data.class_of(i)).collect::<Value>(),
        "tested": drawn.iter().map(|&i| [samples[i].tested, samples[i].wrong]).map(Value::from).collect::<Value>(),
        // By the fold that is shown: false for training samples, null for samples that it left aside.
        "held": drawn.iter().map(|&i| held[i].clone()).collect::<Value>(),
        "all": picked(&models.all, &all),
        "fold": picked(&models.fold, &fold),
    }));
    let cut = if drawn.len() < n {
        format!(
            "<p class=\"note\">{} of {} samples are drawn, evenly spaced.</p>\n",
            count(drawn.len()),
            count(n)
        )
    } else {
        String::new()
    };
    page.section("map", "Sample map", "Sample map", &(include_str!("map.html").to_owned() + &cut));
    Ok(())
}
