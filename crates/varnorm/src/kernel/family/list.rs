//! [`kernels!`]: what is made of the one list of kernels.

/// Makes of `file::Kernel, ..` the enum [`Kernel`](crate::Kernel), the catalogue, and the calls of each kernel's own
/// [`Family`](super::Family).
macro_rules! kernels {
    ($($file:ident::$kernel:ident),* $(,)?) => {
        $(pub use $file::$kernel;)*

        /// Which kernel, with its parameters. One that is left out has its default, mostly `auto`.
        ///
        /// ```
        /// use varnorm::Kernel;
        /// let kernel: Kernel = "flat_rbf:sigma=0.7".parse().unwrap();
        /// assert_eq!(serde_json::to_string(&kernel).unwrap(), r#"{"kernel":"flat_rbf","sigma":0.7}"#);
        /// assert_eq!(r#"{"kernel":"flat_rbf","sigma":0.7}"#.parse::<Kernel>().unwrap(), kernel);
        /// ```
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "kernel", rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum Kernel {
            $(#[doc = concat!("[`", stringify!($kernel), "`].")] $kernel($kernel),)*
        }

        $(impl From<$kernel> for Kernel {
            fn from(kernel: $kernel) -> Self {
                Self::$kernel(kernel)
            }
        })*

        /// Every kernel there is. Contract tests run over the examples.
        pub const CATALOGUE: &[KernelInfo] = &[$($kernel::INFO),*];

        impl Kernel {
            /// The row of the catalogue.
            pub fn info(&self) -> &'static KernelInfo {
                match self {
                    $(Self::$kernel(_) => &$kernel::INFO,)*
                }
            }

            /// An error that names the parameter, its value and the rule, if one is outside its domain.
            pub fn validate(&self) -> Result<()> {
                match self {
                    $(Self::$kernel(kernel) => kernel.validate(),)*
                }
            }

            /// The same kernel with every `auto` worked out from the corpus; see the parameters for how.
            pub fn resolve(&self, corpus: &SeriesSet) -> Result<Self> {
                self.validate()?;
                match self {
                    $(Self::$kernel(kernel) => kernel.resolve(corpus).map(Self::$kernel),)*
                }
            }

            /// At most how many operations, of a few nanoseconds each, the values of all pairs of two sets take.
            pub fn operations(&self, rows: &SeriesSet, columns: &SeriesSet) -> f64 {
                let shape = Shape::new(rows, columns);
                match self {
                    $(Self::$kernel(kernel) => kernel.cost(&shape),)*
                }
            }

            /// Joins a planned walk over pairs of series of so many channels, or adds one.
            pub(crate) fn plan(&self, channels: usize, passes: &mut Passes) -> Result<()> {
                self.validate()?;
                match self {
                    $(Self::$kernel(kernel) => kernel.plan(channels, passes),)*
                }
            }

            /// Vectors whose inner products are the values, if it has them.
            pub(crate) fn features(&self) -> Option<&dyn FeatureVectors> {
                match self {
                    $(Self::$kernel(kernel) => kernel.features(),)*
                }
            }

            /// The names of all kernels that have [`features`](Self::features), as in "a, b and c".
            pub(crate) fn names_with_features() -> String {
                let defaults: [Self; CATALOGUE.len()] = [$($kernel::default().into()),*];
                let with = defaults.iter().filter(|kernel| kernel.features().is_some());
                let names: Vec<&str> = with.map(|kernel| kernel.info().name).collect();
                match names.as_slice() {
                    [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
                    _ => names.concat(),
                }
            }
        }
    };
}

pub(super) use kernels;
