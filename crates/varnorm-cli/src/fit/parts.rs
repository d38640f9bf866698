//! Fits that read their corpus in parts, and what a fit would take.

use std::path::Path;

use varnorm::data::{Origin, Parts};
use varnorm::describe::{bytes, count, duration};
use varnorm::detector::Fitting;
use varnorm::{Detector, Settings};

use super::Fit;
use crate::args::Size;
use crate::console::Console;
use crate::failure::Failure;
use crate::{output, source};

/// Bytes of values that are read at a time where no memory was named.
const PART: f64 = 1e9;
/// A part may take this share of the memory: its series are there raw and prepared, beside the model.
const SHARE: f64 = 0.2;

impl Fit {
    /// Fits a compact model, part by part.
    pub(super) fn run_in_parts(
        &self,
        console: &Console,
        settings: &Settings,
        path: &Path,
    ) -> Result<(), Failure> {
        let (mut fitting, mut origin) = match &self.like {
            Some(model) => {
                let model = Detector::load(model)?;
                (Fitting::like(&model)?, Some(model.origin().clone()))
            }
            None => (Fitting::new(settings)?, None),
        };
        if !self.outliers.is_empty() {
            console.say("note: --outliers has no effect without --calibration supervised");
        }
        let budget = self.memory.map(|Size(bytes)| bytes);
        let most = budget.map_or(PART, |bytes| SHARE * bytes) as usize;
        let mut names = Some(Vec::new());
        let mut parts = 0;
        for dataset in Parts::new(&self.data, &self.reading.options(), most)? {
            // The first part is what the others are held against, unless there is a model.
            let dataset = match &origin {
                Some(origin) => origin.admit(dataset?)?,
                None => dataset?,
            };
            let found = Origin::of(&dataset)?;
            origin.get_or_insert(found);
            console.notes(&dataset.notes);
            let picked = self.pick(&dataset, console)?;
            let first = fitting.series();
            let series = match &picked {
                Some(picked) => dataset.series.select(picked),
                None => dataset.series.clone(),
            };
            if let Some(bytes) = budget {
                settings.check_memory(&series, first + series.len(), bytes)?;
            }
            let renumbered = |error: varnorm::Error| match &picked {
                Some(picked) => error.renumbered(picked, picked),
                None => error,
            };
            let added = fitting.add(&series, &console.run);
            added.map_err(|error| source::named(&dataset)(renumbered(error)))?;
            names = names.zip(dataset.case_names).map(|(mut all, more): (Vec<String>, Vec<String>)| {
                match &picked {
                    Some(picked) => all.extend(picked.iter().map(|at| more[*at].clone())),
                    None => all.extend(more),
                }
                all
            });
            parts += 1;
            if parts == 1 && self.like.is_none() && fitting.series() > 0 && budget.is_some() {
                console.say(format!(
                    "preparation, automatic parameters and landmarks are learned from the first part: {}",
                    count(fitting.series(), "series")
                ));
            }
        }
        let given = fitting.series();
        let detector =
            fitting.finish(&console.run)?.with_corpus_names(names).with_origin(origin.unwrap_or_default());
        console.run.check()?;
        console.clear();
        detector.save(path)?;
        if parts > 1 {
            console.say(format!("read in {}", count(parts, "part")));
        }
        self.tell(console, &detector, given, path);
        Ok(())
    }

    /// What a fit would take.
    pub(super) fn estimate(&self, console: &Console, settings: &Settings) -> Result<(), Failure> {
        let most = self.memory.map_or(PART, |Size(bytes)| SHARE * bytes) as usize;
        let (mut sample, mut total) = (None, 0);
        for dataset in Parts::new(&self.data, &self.reading.options(), most)? {
            let dataset = dataset?;
            let picked = self.pick(&dataset, console)?;
            total += picked.as_ref().map_or(dataset.series.len(), Vec::len);
            if sample.is_none() {
                sample = Some(match &picked {
                    Some(picked) => dataset.series.select(picked),
                    None => dataset.series,
                });
            }
        }
        let Some(sample) = sample else { return Ok(()) };
        let found = settings.estimate(&sample, total, &console.run)?;
        console.clear();
        output::deliver(console, None, |out| {
            writeln!(out, "series         {}", found.series)?;
            writeln!(out, "space          {}", spaces(settings))?;
            writeln!(out, "kernel values  {:.3e}", found.kernel_values)?;
            writeln!(
                out,
                "time           about {} on {}",
                duration(found.seconds),
                count(console.run.threads(), "thread")
            )?;
            writeln!(out, "memory         about {}", bytes(found.bytes))
        })?;
        if let Some(Size(bytes)) = self.memory {
            settings.check_memory(&sample, total, bytes)?;
        }
        Ok(())
    }
}

/// The spaces of the views that were given; a preset chooses them from the corpus.
fn spaces(settings: &Settings) -> String {
    let mut spaces: Vec<String> = settings.given().iter().map(|view| view.space.to_string()).collect();
    spaces.dedup();
    if spaces.is_empty() { "chosen by the preset".into() } else { spaces.join(", ") }
}
