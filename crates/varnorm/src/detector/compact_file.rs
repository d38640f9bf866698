//! The arrays of a compact model in its file.

use serde::{Deserialize, Serialize};

use super::container::{Array, Arrays, check};
use crate::data::SeriesSet;
use crate::linalg::matrix::{Matrix, Scaled};
use crate::model::compact::{Compact, Gathered, Kept, LandmarkMap, Map, Metric, Moments, Rules, Sampled};

/// The numbers of a compact model that are not in arrays.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CompactHeader {
    dimensions: usize,
    folds: usize,
    seed: u64,
    squares: f64,
    missed: f64,
    largest_square: f64,
    kept: usize,
    threshold: f64,
    variance: f64,
    off_span: f64,
}

impl CompactHeader {
    pub(super) fn new(compact: &Compact) -> Self {
        let (gathered, metric) = (&compact.gathered, &compact.metric);
        Self {
            dimensions: gathered.dimensions(),
            folds: gathered.rules.folds,
            seed: gathered.rules.seed,
            squares: gathered.squares,
            missed: gathered.missed,
            largest_square: gathered.largest_square,
            kept: metric.kept,
            threshold: metric.threshold,
            variance: metric.variance,
            off_span: metric.off_span,
        }
    }
}

/// Everything in arrays.
pub(super) fn arrays(compact: &Compact) -> Vec<Array<'_>> {
    let (gathered, metric) = (&compact.gathered, &compact.metric);
    let depth = gathered.dimensions();
    let folds = gathered.folds();
    let each = |part: fn(&Moments) -> &[f64]| -> Vec<f64> {
        gathered.moments.iter().flat_map(part).copied().collect()
    };
    let sample = &gathered.sample;
    let coordinates: Vec<f64> = sample.iter().flat_map(|one| &one.coordinates).copied().collect();
    let squares: Vec<f64> = sample.iter().map(|one| one.square).collect();
    let mut arrays = vec![
        Array::indices("moments.counts", gathered.moments.iter().map(|m| m.count)),
        Array::own("moments.means", vec![folds, depth], each(|m| &m.mean)),
        Array::own("moments.scatters", vec![folds, depth, depth], each(|m| m.scatter.values())),
        Array::numbers("sample.contents", sample.iter().map(|one| one.content)),
        Array::indices("sample.places", sample.iter().map(|one| one.place)),
        Array::own("sample.coordinates", vec![sample.len(), depth], coordinates),
        Array::own("sample.squares", vec![sample.len()], squares),
        Array::floats("metric.eigenvalues", vec![depth], &metric.eigenvalues),
        Array::floats("metric.mean", vec![depth], &metric.mean),
        Array::floats("metric.axes", vec![depth, depth], metric.axes.values()),
    ];
    if let Map::Landmarks(map) = &gathered.map {
        let m = map.series.len();
        let values = map.series.values();
        arrays.extend([
            Array::floats("landmarks.values", vec![values.len()], values),
            Array::indices("landmarks.lengths", map.series.lengths()),
            Array::own(
                "landmarks.self_mantissas",
                vec![m],
                map.self_values.iter().map(|s| s.mantissa).collect(),
            ),
            Array::own(
                "landmarks.self_exponents",
                vec![m],
                map.self_values.iter().map(|s| s.exponent).collect(),
            ),
            Array::numbers("landmarks.contents", map.contents.iter().copied()),
            Array::floats("landmarks.inverse", vec![m, m], map.inverse.values()),
        ]);
    }
    if let Some(points) = &gathered.points {
        let shape = vec![points.folds.len(), depth];
        arrays.push(Array::floats("points.coordinates", shape, points.coordinates.values()));
        if let Some(series) = &points.series {
            arrays.push(Array::floats("points.values", vec![series.values().len()], series.values()));
            arrays.push(Array::indices("points.lengths", series.lengths()));
        }
        arrays.push(Array::indices("points.folds", points.folds.iter().map(|f| usize::from(*f))));
    }
    arrays
}

/// A compact model from its file, everything checked; `examples` are the prepared series that the file keeps.
pub(super) fn assemble(
    header: &CompactHeader,
    arrays: &Arrays<'_>,
    channels: usize,
    examples: &SeriesSet,
) -> Result<Compact, String> {
    let depth = header.dimensions;
    check((1..=256).contains(&header.folds) && depth > 0, || "its folds are malformed".into())?;
    let counts = arrays.indices("moments.counts")?;
    check(counts.len() == header.folds, || "its moments are malformed".into())?;
    let count = counts.iter().try_fold(0usize, |sum, c| sum.checked_add(*c)).unwrap_or(0);
    check(count >= 2, || "it has fewer than two corpus series".into())?;
    let moments = moments(header, arrays, counts)?;
    let map = if arrays.has("landmarks.inverse") {
        Map::Landmarks(landmarks(arrays, depth, channels)?)
    } else {
        Map::Features
    };
    let points =
        arrays.has("points.coordinates").then(|| points(header, arrays, count, channels)).transpose()?;
    let rules = Rules { folds: header.folds, seed: header.seed, keep_points: points.is_some() };
    let numbers = [header.squares, header.missed, header.largest_square, header.threshold, header.variance];
    let sound = numbers.iter().chain([&header.off_span]).all(|v| v.is_finite() && *v >= 0.0);
    check(sound && header.kept <= depth, || "its description has numbers that cannot be".into())?;
    let gathered = Gathered {
        rules,
        map,
        moments,
        squares: header.squares,
        missed: header.missed,
        largest_square: header.largest_square,
        sample: sample(arrays, depth, count, examples)?,
        points,
    };
    let eigenvalues = arrays.finite("metric.eigenvalues", Some(depth))?;
    let positive = eigenvalues[..header.kept].iter().all(|v| *v > 0.0);
    check(positive && eigenvalues.is_sorted_by(|a, b| a >= b), || {
        "its eigenvalues are not positive and descending".into()
    })?;
    let metric = Metric {
        mean: arrays.finite("metric.mean", Some(depth))?,
        eigenvalues,
        axes: arrays.matrix("metric.axes", depth, depth)?,
        kept: header.kept,
        threshold: header.threshold,
        variance: header.variance,
        off_span: header.off_span,
    };
    Ok(Compact { gathered, metric })
}

fn moments(header: &CompactHeader, arrays: &Arrays<'_>, counts: Vec<usize>) -> Result<Vec<Moments>, String> {
    let (depth, folds) = (header.dimensions, header.folds);
    let means = arrays.matrix("moments.means", folds, depth)?;
    let cells = folds.checked_mul(depth).ok_or("its moments are malformed")?;
    let scatters = arrays.matrix("moments.scatters", cells, depth)?;
    let one = |(fold, count): (usize, usize)| {
        let cells = scatters.values()[fold * depth * depth..(fold + 1) * depth * depth].to_vec();
        let scatter = Matrix::from_values(depth, depth, cells).ok_or("its moments are malformed")?;
        Ok(Moments { count, mean: means.row(fold).to_vec(), scatter })
    };
    counts.into_iter().enumerate().map(one).collect()
}

fn landmarks(arrays: &Arrays<'_>, depth: usize, channels: usize) -> Result<LandmarkMap, String> {
    let lengths = arrays.indices("landmarks.lengths")?;
    check(lengths.len() == depth, || "its landmarks are malformed".into())?;
    let series = SeriesSet::from_lengths(arrays.finite("landmarks.values", None)?, &lengths, channels)
        .map_err(|e| e.to_string())?;
    let mantissas = arrays.finite("landmarks.self_mantissas", Some(depth))?;
    let exponents = arrays.finite("landmarks.self_exponents", Some(depth))?;
    let pair = |(mantissa, exponent)| Scaled { mantissa, exponent };
    Ok(LandmarkMap {
        series,
        self_values: mantissas.into_iter().zip(exponents).map(pair).collect(),
        contents: arrays.numbers("landmarks.contents", Some(depth))?,
        inverse: arrays.matrix("landmarks.inverse", depth, depth)?,
    })
}

fn points(
    header: &CompactHeader,
    arrays: &Arrays<'_>,
    count: usize,
    channels: usize,
) -> Result<Kept, String> {
    let folds = arrays.indices("points.folds")?;
    check(folds.len() == count && folds.iter().all(|f| *f < header.folds), || {
        "its points are malformed".into()
    })?;
    let coordinates = arrays.matrix("points.coordinates", count, header.dimensions)?;
    let series = match arrays.has("points.values") {
        true => {
            let lengths = arrays.indices("points.lengths")?;
            check(lengths.len() == count, || "its points are malformed".into())?;
            let values = arrays.finite("points.values", None)?;
            Some(SeriesSet::from_lengths(values, &lengths, channels).map_err(|e| e.to_string())?)
        }
        false => None,
    };
    Ok(Kept { coordinates, folds: folds.into_iter().map(|f| f as u8).collect(), series })
}

fn sample(
    arrays: &Arrays<'_>,
    depth: usize,
    count: usize,
    examples: &SeriesSet,
) -> Result<Vec<Sampled>, String> {
    let places = arrays.indices("sample.places")?;
    let contents = arrays.numbers("sample.contents", Some(places.len()))?;
    let coordinates = arrays.matrix("sample.coordinates", places.len(), depth)?;
    let squares = arrays.finite("sample.squares", Some(places.len()))?;
    check(places.iter().all(|p| *p < count) && examples.len() <= places.len(), || {
        "its sample is malformed".into()
    })?;
    // Examples are kept in the order of their places, the sample in its own.
    let mut order: Vec<usize> = (0..examples.len()).collect();
    order.sort_by_key(|at| places[*at]);
    let mut values = vec![Vec::new(); places.len()];
    for (example, at) in order.into_iter().enumerate() {
        values[at] = examples.series(example).values().to_vec();
    }
    let one = |(at, values): (usize, Vec<f64>)| Sampled {
        content: contents[at],
        place: places[at],
        coordinates: coordinates.row(at).to_vec(),
        square: squares[at],
        values,
    };
    Ok(values.into_iter().enumerate().map(one).collect())
}
