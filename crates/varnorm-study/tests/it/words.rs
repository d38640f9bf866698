//! Choices of a study in words.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use varnorm::Error;
use varnorm::words::Word;
use varnorm_study::{Compat, Method, Select};

fn names<T: FromStr<Err = Error> + Display + PartialEq + Debug>(words: &[Word]) {
    for word in words {
        let read: T = word.name.parse().unwrap();
        assert_eq!(read.to_string(), word.name);
        assert!(word.aliases.iter().all(|other| other.parse::<T>().unwrap() == read));
    }
    assert!("nonsense".parse::<T>().unwrap_err().to_string().contains(words[0].name));
}

#[test]
fn names_are_read_and_printed() {
    names::<Compat>(Compat::WORDS);
    names::<Select>(Select::WORDS);
    names::<Method>(Method::WORDS);
    assert!(Method::WORDS.iter().all(|word| {
        let method: Method = word.name.parse().unwrap();
        word.aliases[0] == method.letter() && word.name == method.name()
    }));
}
