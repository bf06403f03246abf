//! Why there is no answer.

use std::io;

use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The query is none, names what there is not, or cannot be carried out.
    #[error("{0}")]
    Query(String),
    /// The answer could not be told.
    #[error(transparent)]
    Output(io::Error),
}

impl From<DataFusionError> for QueryError {
    /// Without the layers that it went through.
    fn from(error: DataFusionError) -> QueryError {
        let text = match error.find_root() {
            DataFusionError::SQL(error, _) => error.to_string(),
            DataFusionError::Plan(text)
            | DataFusionError::Execution(text)
            | DataFusionError::ResourcesExhausted(text)
            | DataFusionError::NotImplemented(text) => text.clone(),
            DataFusionError::SchemaError(error, _) => schema(error),
            other => other.strip_backtrace(),
        };
        QueryError::Query(text)
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
