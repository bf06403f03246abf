//! Why there is no answer.

use std::io;

use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;

use crate::views::TABLES;
use crate::{tasks, VIEWS};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The query is malformed, names what does not exist, or cannot be carried out.
    #[error("{0}")]
    Query(String),
    /// The answer could not be written.
    #[error(transparent)]
    Output(io::Error),
}

impl From<DataFusionError> for QueryError {
    /// Without the layers that it went through.
    fn from(error: DataFusionError) -> QueryError {
        let text = match error.find_root() {
            DataFusionError::SQL(error, _) => error.to_string(),
            DataFusionError::Plan(text) => plan(text),
            DataFusionError::Execution(text)
            | DataFusionError::ResourcesExhausted(text)
            | DataFusionError::NotImplemented(text) => text.clone(),
            DataFusionError::SchemaError(error, _) => schema(error),
            other => other.strip_backtrace(),
        };
        QueryError::Query(text)
    }
}

/// A table that does not exist, with those that do; anything else as it is.
fn plan(text: &str) -> String {
    let Some(name) = text.strip_prefix("table '").and_then(|rest| rest.strip_suffix("' not found")) else {
        return text.to_owned();
    };
    let name = name.rsplit('.').next().unwrap_or(name);
    let views = VIEWS.iter().map(|view| view.name).chain([tasks::NAME]);
    let names: Vec<&str> = TABLES.iter().copied().chain(views).collect();
    format!("there is no table `{name}`; there are {}", names.join(", "))
}

fn schema(error: &SchemaError) -> String {
    match error {
        SchemaError::FieldNotFound { field, valid_fields } => {
            let mut names: Vec<&str> = valid_fields.iter().map(|field| field.name.as_str()).collect();
            names.dedup();
            format!("there is no column `{}` here; there are {}", field.name, names.join(", "))
        }
        other => other.to_string(),
    }
}
