//! Dependence profiles: any bytes are read without a panic, and what is read is written the same.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(profile) = workspan_depend::file::decode(bytes) {
        let again = workspan_depend::file::decode(&workspan_depend::file::encode(&profile));
        assert_eq!(again.as_ref(), Ok(&profile));
        let threshold = workspan_report::depend::Threshold::default();
        let options = workspan_report::depend::Options { processors: 4, threshold, line: &|_, _| None };
        let _ = workspan_report::depend::text(&workspan_report::depend::answer(&profile, &options), 10);
    }
});
