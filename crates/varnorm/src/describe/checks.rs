//! What tests of the scores say: drift of new series, the law of the largest normal scores.

use super::{percent, significant};
use crate::calibrate::{DRIFT_ALARM, DriftState, FittedTail, TailCheck};

/// The alarm of a running test; none where there is none.
pub fn drift(state: &DriftState) -> Option<String> {
    state.drifted.then(|| {
        format!(
            "these series, as a whole, no longer look like the corpus: the capital of a running bet on that reached {} (of \
             streams that do look like it at most {} ever reach {DRIFT_ALARM})",
            significant(state.largest, 3),
            percent(state.false_alarm_rate)
        )
    })
}

/// What is assumed about the largest normal scores, and whether they contradict it.
pub fn tail(check: &TailCheck) -> String {
    let FittedTail { above, shape, exceedances, .. } = check.tail;
    let law = format!(
        "p-values of scores above {} assume that normal scores follow a generalised Pareto law there (shape {}, fitted to \
         {exceedances} scores)",
        significant(above, 4),
        significant(shape, 2)
    );
    match check.trusted {
        true => format!("{law}; the scores do not contradict it (p = {:.2})", check.p_value),
        false => format!(
            "{law}, and the scores contradict it (p = {:.2}): do not trust small p-values; fit without a tail, or on more \
             normal series",
            check.p_value
        ),
    }
}
