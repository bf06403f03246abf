//! What is read is what was written.

use std::fs;

use workspan_model::{Nanos, Recording, Strand};
use workspan_store::{survey, Meta, Problem, Reader, StoreError, Writer, GROUP_ROWS, PART_GROUPS};

use crate::folder::Folder;
use crate::rows::{recording, strands};

pub(crate) fn meta() -> Meta {
    Meta { command: vec!["./prog".to_owned(), "two words".to_owned()], made_at: 1_767_225_600, ..Meta::default() }
}

pub(crate) fn write(folder: &Folder, run: u32, strands: &[Strand]) {
    let mut writer = Writer::create(folder.path(), run, &meta()).expect("it is writable");
    for batch in strands.chunks(10_007) {
        writer.push(batch).expect("there is room");
    }
    let summary = writer.finish(&recording(), None).expect("there is room");
    assert_eq!(summary.strands, strands.len() as u64);
}

/// All strands that can be read, and what is wrong with the others.
pub(crate) fn read(mut reader: Reader) -> (Vec<Strand>, Vec<Problem>) {
    let mut all = Vec::new();
    while let Some(batch) = reader.next_batch().expect("files can be opened") {
        all.extend_from_slice(batch);
    }
    assert!(matches!(reader.next_batch(), Ok(None)), "an end is an end");
    (all, reader.problems().to_vec())
}

#[test]
fn strands_come_back_in_their_order() {
    for (seed, count) in [(1, 1), (2, 1000), (3, GROUP_ROWS * 2 + 17)] {
        let folder = Folder::new();
        let written = strands(seed, count);
        write(&folder, 1, &written);
        let reader = Reader::open(folder.path(), 1).expect("it is there");
        let stored = reader.stored().expect("it is there");
        assert_eq!((stored.command.as_str(), stored.made_at), ("./prog two words", 1_767_225_600));
        assert_eq!(stored.strands, Some(written.len() as u64));
        let (back, problems) = read(reader);
        assert_eq!(problems, []);
        assert!(back == written, "seed {seed}");
        let without = read(Reader::open(folder.path(), 1).expect("it is there").without_times()).0;
        let expected: Vec<_> = written.iter().map(|s| Strand { start: Nanos::ZERO, thread: 0, ..*s }).collect();
        assert!(without == expected, "seed {seed}");
    }
}

#[test]
fn a_long_run_has_several_parts() {
    let folder = Folder::new();
    let written = strands(4, GROUP_ROWS * PART_GROUPS + 5);
    write(&folder, 1, &written);
    let names = ["contexts.parquet", "meta-1.parquet", "nodes-1-0000.parquet", "nodes-1-0001.parquet", "sites.parquet"];
    assert_eq!(folder.names(), names);
    let (back, problems) = read(Reader::open(folder.path(), 1).expect("it is there"));
    assert_eq!(problems, []);
    assert!(back == written);
    // About half of it is noise that nothing can compress.
    let bytes: u64 =
        folder.names().iter().map(|name| fs::metadata(folder.path().join(name)).expect("it is").len()).sum();
    assert!(bytes < 12 * written.len() as u64, "{bytes} bytes for {} strands", written.len());
}

#[test]
fn runs_stand_beside_each_other_until_the_first_is_written_again() {
    let folder = Folder::new();
    let (first, second) = (strands(5, 100), strands(6, 50));
    write(&folder, 1, &first);
    write(&folder, 2, &second);
    assert_eq!(Reader::runs(folder.path()).expect("it is there"), [1, 2]);
    assert!(read(Reader::open(folder.path(), 1).expect("it is there")).0 == first);
    assert!(read(Reader::open(folder.path(), 2).expect("it is there")).0 == second);
    assert!(matches!(Reader::open(folder.path(), 3), Err(StoreError::Empty { .. })));
    fs::write(folder.path().join("of the user"), "").expect("it is writable");
    write(&folder, 1, &second);
    assert_eq!(Reader::runs(folder.path()).expect("it is there"), [1]);
    workspan_store::names::remove(folder.path()).expect("it is ours");
    assert_eq!(folder.names(), ["of the user"]);
}

#[test]
fn what_is_missing_is_told() {
    let folder = Folder::new();
    let written = strands(7, GROUP_ROWS * PART_GROUPS + 5);
    let mut writer = Writer::create(folder.path(), 1, &meta()).expect("it is writable");
    writer.push(&written).expect("there is room");
    // As if it was killed: what is in a part that is not whole is lost.
    drop(writer);
    let (back, problems) = read(Reader::open(folder.path(), 1).expect("the first part is there"));
    assert!(back == written[..GROUP_ROWS * PART_GROUPS]);
    assert_eq!(problems, [Problem::Unfinished]);

    let mut writer = Writer::create(folder.path(), 1, &meta()).expect("it is writable");
    writer.push(&written[..50]).expect("there is room");
    writer.finish(&Recording::default(), Some("the program was killed")).expect("there is room");
    let (back, problems) = read(Reader::open(folder.path(), 1).expect("it is there"));
    assert!(back == written[..50]);
    assert_eq!(problems, [Problem::Partial { reason: "the program was killed".to_owned() }]);
}

#[test]
fn a_run_without_strands_is_a_run() {
    let folder = Folder::new();
    write(&folder, 1, &[]);
    assert_eq!(read(Reader::open(folder.path(), 1).expect("it is there")), (Vec::new(), Vec::new()));
}

#[test]
fn a_survey_finds_what_is_whole() {
    let folder = Folder::new();
    write(&folder, 1, &strands(8, 100));
    write(&folder, 2, &strands(9, 100));
    let whole = survey(folder.path()).expect("it is there");
    assert_eq!((whole.parts.len(), whole.metas.len(), whole.problems), (2, 2, Vec::new()));
    let path = folder.path().join("nodes-2-0000.parquet");
    let mut bytes = fs::read(&path).expect("it is there");
    bytes[100] ^= 1;
    fs::write(&path, bytes).expect("it is writable");
    let found = survey(folder.path()).expect("the other is there");
    assert_eq!(found.parts, [folder.path().join("nodes-1-0000.parquet")]);
    let file = "nodes-2-0000.parquet".to_owned();
    assert_eq!(found.problems, [(2, Problem::Damaged { file, after: 0 })]);
}
