//! Kernels in words and in JSON.

use crate::common::Numbers;
use varnorm::Kernel;
use varnorm::kernel::CATALOGUE;

#[test]
fn json_and_words_survive_the_round_trip() {
    for info in CATALOGUE {
        let kernel: Kernel = info.example.parse().unwrap();
        let json = serde_json::to_string(&kernel).unwrap();
        assert!(json.contains(info.name));
        assert_eq!(json.parse::<Kernel>().unwrap(), kernel);
        assert_eq!(serde_json::from_str::<Kernel>(&json).unwrap(), kernel);
        assert_eq!(kernel.to_string().parse::<Kernel>().unwrap(), kernel);
        let default: Kernel = info.name.parse().unwrap();
        let corpus = Numbers(1).walks(8, 6, 2);
        let resolved = default.resolve(&corpus).unwrap();
        assert!(!serde_json::to_string(&resolved).unwrap().contains("auto"), "{resolved}");
        assert_eq!(resolved.resolve(&corpus).unwrap(), resolved);
        assert_eq!(serde_json::to_string(&resolved).unwrap().parse::<Kernel>().unwrap(), resolved);
    }
}

#[test]
fn mistakes_in_a_specification_say_what_is_allowed() {
    for (spec, words) in [
        ("flat_rfb", "choose one of flat_linear, flat_rbf"),
        ("flat_rbf:sigma=0", "sigma = 0: must be a positive number or auto"),
        ("flat_rbf:sigma=-1", "sigma = -1: must be a positive number"),
        ("flat_rbf:sigma=nan", "neither a number nor"),
        ("flat_rbf:gamma=1", "flat_rbf has no such parameter; it has: sigma"),
        ("flat_rbf:sigma", "not of the form parameter=value"),
        ("flat_rbf:sigma=1,sigma=2", "given twice"),
        ("flat_poly:c=-1", "must be zero, a positive number or auto"),
        ("flat_poly:p=0", "degree from 1 to 32"),
        ("flat_linear:c=1", "it has: none"),
        ("sig:level=0", "level from 1 to 32"),
        ("sig:level=3,order=4", "order = 4: must be from 1 to the level, 3"),
        ("sig:sigma=1", "belongs to lift=rbf"),
        ("sig:lift=cubic", "unknown variant"),
        ("sig:scale=0", "must be a positive number"),
        ("{\"kernel\":\"flat_rbf\",\"sigma\":", "not valid JSON"),
        ("", "is not a kernel"),
        ("gak:band=-1", "gak:band=-1"),
        ("gak:floor=2", "must be 0, or from 1e-100 to 1"),
        ("vrk:lambda=0", "above 0 and at most 1"),
        ("vrk:clip=2", "between 0 and 1"),
        ("sig_random:features=0", "must be from 1 to"),
        ("sig_fourier:features=5000", "must be from 1 to 4096"),
        ("sig_fourier:form=diagonal,level=12", "or the form tensor"),
        ("sig_fourier:form=round", "unknown variant"),
        ("sig_fourier:level=40", "level from 1 to 32"),
        ("rocket:features=10000", "must be a multiple of 84 from 84 to 84000, such as 9996"),
        ("rocket:features=0", "such as 84"),
        ("rocket:fitted=1", "invalid type"),
        ("radon:window=0", "must be from 1 to 1000"),
        ("radon:directions=10000,thresholds=1000", "more than 100000 features"),
    ] {
        let error = spec.parse::<Kernel>().unwrap_err().to_string();
        assert!(error.contains(words), "{spec}: {error}");
    }
}
