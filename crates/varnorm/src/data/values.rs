//! [`Values`]: the numbers of a set of series, its own or borrowed for as long as they are needed.

use std::ops::Deref;
use std::sync::Arc;

/// A buffer that belongs to somebody else (an array of another language, a mapped file). It must be the same numbers
/// at every call.
pub type SharedValues = Arc<dyn AsRef<[f64]> + Send + Sync>;

/// One buffer of numbers.
#[derive(Clone, Default)]
pub(super) struct Values {
    /// Empty where the numbers belong to somebody else.
    own: Vec<f64>,
    shared: Option<SharedValues>,
}

impl Values {
    /// The buffer to change: a copy of somebody else's.
    pub fn own(&mut self) -> &mut Vec<f64> {
        if let Some(shared) = self.shared.take() {
            self.own = (*shared).as_ref().to_vec();
        }
        &mut self.own
    }

    pub fn is_shared(&self) -> bool {
        self.shared.is_some()
    }
}

impl Deref for Values {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match &self.shared {
            Some(shared) => (**shared).as_ref(),
            None => &self.own,
        }
    }
}

impl From<Vec<f64>> for Values {
    fn from(own: Vec<f64>) -> Self {
        Self { own, shared: None }
    }
}

impl From<SharedValues> for Values {
    fn from(shared: SharedValues) -> Self {
        Self { own: Vec::new(), shared: Some(shared) }
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl std::fmt::Debug for Values {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::SeriesSet;

    #[test]
    fn a_shared_buffer_is_not_copied_until_it_is_changed() {
        let buffer: Arc<Vec<f64>> = Arc::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let set = SeriesSet::from_shared(buffer.clone(), &[1, 2], 2).unwrap();
        assert!(set.is_shared());
        assert_eq!(set.values().as_ptr(), buffer.as_ptr());
        assert_eq!(set.clone().values().as_ptr(), buffer.as_ptr());
        assert_eq!(set, SeriesSet::from_lengths(buffer.to_vec(), &[1, 2], 2).unwrap());
        let mut changed = set.clone();
        changed.values_mut()[0] = 9.0;
        assert_eq!((set.values()[0], changed.values()[0], buffer[0]), (1.0, 9.0, 1.0));
        let owned = set.clone().into_owned();
        assert!(!owned.is_shared() && owned == set);
        assert!(SeriesSet::from_shared(buffer, &[1, 3], 2).is_err());
    }
}
