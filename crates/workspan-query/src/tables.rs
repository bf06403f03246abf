//! The files as tables.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::DataFusionError;
use datafusion::execution::context::SessionContext;
use workspan_store::{names, Survey};

use crate::views::TABLES;
use crate::{tasks, QueryError};

pub(crate) async fn register(context: &SessionContext, folder: &Path, survey: &Survey) -> Result<(), QueryError> {
    // `folder` is the plain name of one ([`crate::plain::PlainFolder`]): as a URL it means the same.
    let one = |name| vec![folder.join(name)];
    let absolute = |paths: &[PathBuf]| paths.iter().filter_map(|path| Some(folder.join(path.file_name()?))).collect();
    let files = [absolute(&survey.parts), one(names::SITES), one(names::CONTEXTS), absolute(&survey.metas)];
    for (name, files) in TABLES.into_iter().zip(files) {
        let table = table(context, files).await.map_err(|error| match QueryError::from(error) {
            QueryError::Query(text) => QueryError::Query(format!("the table `{name}` cannot be read: {text}")),
            other => other,
        })?;
        context.register_table(name, Arc::new(table))?;
    }
    context.register_table(tasks::NAME, Arc::new(tasks::table(folder, survey)?))?;
    Ok(())
}

async fn table(context: &SessionContext, files: Vec<PathBuf>) -> Result<ListingTable, DataFusionError> {
    let locations = files.into_iter().map(|file| {
        // Not by its text: in that, `*` and `?` would be a pattern.
        let url = url::Url::from_file_path(&file)
            .map_err(|()| DataFusionError::Plan(format!("{} has no URL", file.display())))?;
        ListingTableUrl::try_new(url, None)
    });
    let locations = locations.collect::<Result<_, _>>()?;
    let options = ListingOptions::new(Arc::new(ParquetFormat::default())).with_collect_stat(true);
    let config = ListingTableConfig::new_with_multi_paths(locations).with_listing_options(options);
    ListingTable::try_new(config.infer_schema(&context.state()).await?)
}
