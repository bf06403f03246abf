//! Why there is no answer.

use std::io;

use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The query is malformed, names what does not exist, or cannot be carried out.
    #[error("{0}")]
    Query(String),
    /// The query names a table that does not exist.
    #[error("there is no table `{0}`")]
    NoTable(String),
    /// The answer could not be written.
    #[error(transparent)]
    Output(io::Error),
}

impl From<DataFusionError> for QueryError {
    /// Without the layers that it went through.
    fn from(error: DataFusionError) -> QueryError {
        let text = match error.find_root() {
            DataFusionError::SQL(error, _) => error.to_string(),
            DataFusionError::Plan(text) => return plan(text),
            DataFusionError::Execution(text)
            | DataFusionError::ResourcesExhausted(text)
            | DataFusionError::NotImplemented(text) => text.clone(),
            DataFusionError::SchemaError(error, _) => schema(error),
            other => other.strip_backtrace(),
        };
        QueryError::Query(text)
    }
}

impl QueryError {
    /// With the tables that there are, where it names another.
    pub(crate) fn among(self, tables: &[&str]) -> QueryError {
        match self {
            QueryError::NoTable(_) => QueryError::Query(format!("{self}; there are {}", tables.join(", "))),
            other => other,
        }
    }
}

/// A table that does not exist; anything else as it is.
fn plan(text: &str) -> QueryError {
    let name = text.strip_prefix("table '").and_then(|rest| rest.strip_suffix("' not found"));
    match name {
        Some(name) => QueryError::NoTable(name.rsplit('.').next().unwrap_or(name).to_owned()),
        None => QueryError::Query(text.to_owned()),
    }
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
