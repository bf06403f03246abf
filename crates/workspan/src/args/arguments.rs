//! Options as arguments again, for the `workspan` that cargo will call in another folder.

use std::path::{absolute, Path};

use super::depend::{DependOptions, Shown};
use super::{Clock, InflationOptions, RunOptions, ScaleOptions, Show};

/// Arguments, each a word of its own.
#[derive(Debug, Default)]
struct Arguments(Vec<String>);

impl Arguments {
    fn value(&mut self, name: &str, value: Option<impl ToString>) {
        self.0.extend(value.map(|value| format!("--{name}={}", value.to_string())));
    }

    fn flag(&mut self, name: &str, set: bool) {
        self.0.extend(set.then(|| format!("--{name}")));
    }

    fn path(&mut self, name: &str, path: Option<&Path>) -> anyhow::Result<()> {
        let path = path.map(absolute).transpose()?;
        self.value(name, path.as_ref().map(|path| path.to_string_lossy()));
        Ok(())
    }

    fn file_or_stdout(&mut self, name: &str, file: Option<&Path>) -> anyhow::Result<()> {
        if file == Some(Path::new("-")) {
            self.value(name, Some("-"));
            return Ok(());
        }
        self.path(name, file)
    }

    fn clock(&mut self, clock: Clock) {
        self.value("clock", (clock == Clock::Virtual).then_some("virtual"));
    }
}

impl RunOptions {
    /// The options as arguments of `workspan record`.
    pub fn to_arguments(&self) -> anyhow::Result<Vec<String>> {
        let RunOptions {
            output,
            workers,
            logical_cores,
            strands,
            what_if,
            tool,
            steal,
            events,
            repeat,
            idle_only: _,
            clock,
            virtual_task_cost,
            show: Show { json, html, top, no_source, source, processors },
        } = self;
        let mut all = Arguments::default();
        all.path("output", Some(output))?;
        all.value("workers", *workers);
        all.value("logical-cores", *logical_cores);
        all.flag("strands", *strands);
        what_if.iter().for_each(|asked| all.value("what-if", Some(&asked.text)));
        all.path("tool", tool.as_deref())?;
        all.value("steal", *steal);
        all.value("events", events.as_ref());
        all.value("repeat", Some(repeat));
        all.clock(*clock);
        all.value("virtual-task-cost", Some(virtual_task_cost));
        all.file_or_stdout("json", json.as_deref())?;
        all.path("html", html.as_deref())?;
        all.value("top", Some(top));
        all.flag("no-source", *no_source);
        for folder in source {
            all.path("source", Some(folder))?;
        }
        all.value("processors", *processors);
        Ok(all.0)
    }
}

impl DependOptions {
    /// The options as arguments of `workspan depend`.
    pub fn to_arguments(&self) -> anyhow::Result<Vec<String>> {
        let DependOptions {
            output,
            add,
            effects,
            memory_limit,
            granularity,
            buffer,
            shown: Shown { json, csv, sarif, autopar, dot, html, processors, spawn_threshold, top },
        } = self;
        let mut all = Arguments::default();
        all.path("output", Some(output))?;
        all.flag("add", *add);
        all.path("effects", effects.as_deref())?;
        all.value("memory-limit", Some(memory_limit));
        all.value("granularity", Some(granularity));
        all.value("buffer", Some(buffer));
        all.value("spawn-threshold", *spawn_threshold);
        all.file_or_stdout("json", json.as_deref())?;
        let files = [("csv", csv), ("sarif", sarif), ("autopar", autopar), ("dot", dot), ("html", html)];
        for (name, file) in files {
            all.path(name, file.as_deref())?;
        }
        all.value("processors", *processors);
        all.value("top", Some(top));
        Ok(all.0)
    }
}

impl InflationOptions {
    /// The options as arguments of `workspan inflation`.
    pub fn to_arguments(&self) -> anyhow::Result<Vec<String>> {
        let InflationOptions {
            output,
            workers,
            logical_cores,
            repeat,
            events,
            graph,
            cache,
            fail_on,
            json,
            top,
            clock,
        } = self;
        let mut all = Arguments::default();
        all.path("output", Some(output))?;
        all.value("workers", *workers);
        all.value("logical-cores", *logical_cores);
        all.value("repeat", Some(repeat));
        all.value("events", events.as_ref());
        all.path("graph", graph.as_deref())?;
        all.value("cache", *cache);
        fail_on.iter().for_each(|gate| all.value("fail-on", Some(gate.text())));
        all.file_or_stdout("json", json.as_deref())?;
        all.value("top", Some(top));
        all.clock(*clock);
        Ok(all.0)
    }
}

impl ScaleOptions {
    /// The options as arguments of `workspan scale`.
    pub fn to_arguments(&self) -> anyhow::Result<Vec<String>> {
        let ScaleOptions {
            workers,
            baseline,
            elision,
            repeat,
            warm_up,
            pin,
            no_sites,
            show_output,
            json,
            csv,
            svg,
            html,
            top,
        } = self;
        let numbers = workers.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let mut all = Arguments::default();
        all.value("workers", Some(numbers).filter(|numbers| !numbers.is_empty()));
        all.value("baseline", baseline.as_ref().map(|command| &command.text));
        all.value("elision", elision.as_ref().map(|command| &command.text));
        all.value("repeat", Some(repeat));
        all.value("warm-up", Some(warm_up));
        all.flag("pin", *pin);
        all.flag("no-sites", *no_sites);
        all.flag("show-output", *show_output);
        all.file_or_stdout("json", json.as_deref())?;
        all.file_or_stdout("csv", csv.as_deref())?;
        all.path("svg", svg.as_deref())?;
        all.path("html", html.as_deref())?;
        all.value("top", Some(top));
        Ok(all.0)
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command, FromArgMatches};

    use super::*;

    /// A value that is not the default.
    fn other_value(argument: &clap::Arg) -> &'static str {
        match argument.get_long().expect("it is an option") {
            "output" | "tool" | "html" | "svg" | "json" | "csv" | "source" | "graph" => "/somewhere/else",
            "what-if" => "part=8,other=inf",
            "baseline" | "elision" => "./seq 'an argument'",
            "fail-on" => "inflation>1.5",
            "clock" => "virtual",
            _ => "77",
        }
    }

    /// Every option comes back.
    fn check<T: Args + FromArgMatches>(to_arguments: impl Fn(&T) -> anyhow::Result<Vec<String>>) {
        let command = T::augment_args(Command::new("w").no_binary_name(true));
        let back = |given: &[String]| {
            let matches = command.clone().try_get_matches_from(given).expect("it is right");
            to_arguments(&T::from_arg_matches(&matches).expect("it is right")).expect("paths are known")
        };
        let none = back(&[]);
        let options: Vec<_> = command.get_arguments().filter(|argument| argument.get_long().is_some()).collect();
        assert!(options.len() > 8);
        for option in options {
            let name = option.get_long().expect("it has one");
            let given = match option.get_action().takes_values() {
                true => format!("--{name}={}", other_value(option)),
                false => format!("--{name}"),
            };
            // A cache is looked at in a graph.
            let besides = (name == "cache").then(|| "--graph=/somewhere/else".to_owned());
            let all = back(&besides.into_iter().chain([given.clone()]).collect::<Vec<_>>());
            assert!(all.contains(&given) && !none.contains(&given), "{given} is lost: {all:?}");
            assert_eq!(back(&all), all);
        }
    }

    #[test]
    fn every_option_comes_back() {
        check(RunOptions::to_arguments);
        check(InflationOptions::to_arguments);
        check(ScaleOptions::to_arguments);
    }
}
