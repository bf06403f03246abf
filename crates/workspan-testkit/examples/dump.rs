fn main() {
    for a in std::env::args().skip(1) {
        println!("{:?}", workspan_testkit::generate(a.parse().unwrap()));
        println!("{:#?}", workspan_testkit::evaluate(&workspan_testkit::generate(a.parse().unwrap())).sites);
    }
}
