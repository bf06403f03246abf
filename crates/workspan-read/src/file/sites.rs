//! The section `SITE`.

use crate::codec::{Decoder, Encoder};
use workspan_model::{Function, Site, SiteId, SiteKind};

pub(super) fn encode(sites: &[Site]) -> Encoder {
    let mut e = Encoder::default();
    e.unsigned(sites.len() as u64);
    for site in sites {
        let [from, to] = site.kind.ends().unwrap_or_default();
        let neighbour = |id: Option<SiteId>| id.map_or(0, |id| u64::from(id.0) + 1);
        e.unsigned(site.kind.row().stored).unsigned(neighbour(from)).unsigned(neighbour(to));
        e.text(&site.file).unsigned(u64::from(site.line)).unsigned(u64::from(site.column));
        match &site.function {
            None => e.unsigned(0),
            Some(function) => e.unsigned(if function.from_debug_info { 2 } else { 1 }).text(&function.name),
        };
        e.text(&site.type_name);
        e.unsigned(site.addresses.len() as u64);
        for address in &site.addresses {
            e.unsigned(*address);
        }
        match &site.via {
            None => e.unsigned(0),
            Some((file, line)) => e.unsigned(1).text(file).unsigned(u64::from(*line)),
        };
    }
    encode_modules(sites, &mut e);
    e
}

pub(super) fn decode(d: &mut Decoder<'_>) -> Option<Vec<Site>> {
    let count = d.count()?;
    let mut sites = Vec::new();
    for _ in 0..count {
        let kind = d.unsigned()?;
        let mut neighbour = || {
            let n = d.small()?;
            if n as usize > count {
                return None;
            }
            Some(n.checked_sub(1).map(SiteId))
        };
        let (from, to) = (neighbour()?, neighbour()?);
        let kind = SiteKind::stored(kind, from, to)?;
        let (file, line, column) = (d.text()?, d.small()?, d.small()?);
        let function = match d.unsigned()? {
            0 => None,
            how => Some(Function { name: d.text()?, from_debug_info: how == 2, offset: None }),
        };
        let type_name = d.text()?;
        let addresses = d.count()?;
        let addresses = (0..addresses).map(|_| d.unsigned()).collect::<Option<_>>()?;
        let via = match d.unsigned()? {
            0 => None,
            _ => Some((d.text()?, d.small()?)),
        };
        let module = String::new();
        sites.push(Site { kind, file, line, column, function, type_name, module, addresses, via });
    }
    // Files of minor version 0 end here.
    if !d.is_empty() {
        decode_modules(d, &mut sites)?;
    }
    Some(sites)
}

/// Since minor version 1: the names of shared libraries; for each site which one it is in (from 1, or 0 for the
/// executable), and the offset in its function, plus 1 (0 for none).
fn encode_modules(sites: &[Site], e: &mut Encoder) {
    let mut names: Vec<&str> = sites.iter().map(|site| site.module.as_str()).filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    e.unsigned(names.len() as u64);
    for name in &names {
        e.text(name);
    }
    for site in sites {
        let module = names.binary_search(&site.module.as_str()).map_or(0, |index| index as u64 + 1);
        let offset = site.function.as_ref().and_then(|function| function.offset?.checked_add(1));
        e.unsigned(module).unsigned(offset.unwrap_or(0));
    }
}

fn decode_modules(d: &mut Decoder<'_>, sites: &mut [Site]) -> Option<()> {
    let count = d.count()?;
    let names: Vec<String> = (0..count).map(|_| d.text()).collect::<Option<_>>()?;
    for site in sites {
        if let Some(index) = (d.small()? as usize).checked_sub(1) {
            site.module.clone_from(names.get(index)?);
        }
        let offset = d.unsigned()?.checked_sub(1);
        if let Some(function) = &mut site.function {
            function.offset = offset;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sites() -> Vec<Site> {
        let function = |offset| Some(Function { name: "f".to_owned(), from_debug_info: false, offset });
        let site = |kind, module: &str, offset| Site {
            kind,
            file: String::new(),
            line: 0,
            column: 0,
            function: function(offset),
            type_name: String::new(),
            module: module.to_owned(),
            addresses: vec![0x10, u64::MAX],
            via: None,
        };
        vec![
            site(SiteKind::Task, "/usr/lib/libb.so", Some(0)),
            site(SiteKind::Lock, "", Some(9)),
            Site { function: None, ..site(SiteKind::Parallel, "/usr/lib/liba.so", None) },
            site(SiteKind::Loop, "/usr/lib/libb.so", None),
            site(SiteKind::Serial { from: Some(SiteId(2)), to: None }, "", None),
        ]
    }

    #[test]
    fn sites_come_back_as_they_were() {
        let bytes = encode(&sites()).into_bytes();
        let mut decoder = Decoder::new(&bytes);
        assert_eq!(decode(&mut decoder), Some(sites()));
        assert!(decoder.is_empty());
    }

    /// Files of minor version 0 know of no modules.
    #[test]
    fn what_minor_version_1_adds_may_be_missing() {
        let plain = |site: &Site| {
            let function = site.function.clone().map(|function| Function { offset: None, ..function });
            Site { module: String::new(), function, ..site.clone() }
        };
        let plain: Vec<Site> = sites().iter().map(plain).collect();
        let bytes = encode(&plain).into_bytes();
        // No module, and for each site two numbers.
        let former = &bytes[..bytes.len() - 1 - 2 * plain.len()];
        assert_eq!(decode(&mut Decoder::new(former)), Some(plain));
    }

    #[test]
    fn no_other_cut_makes_sense() {
        let bytes = encode(&sites()).into_bytes();
        let whole = (0..bytes.len()).filter(|length| decode(&mut Decoder::new(&bytes[..*length])).is_some());
        assert_eq!(whole.count(), 1);
        let mut wild = bytes.clone();
        // The number of a module that is not there.
        let last = bytes.len() - 2;
        wild[last] = 3;
        assert_eq!(decode(&mut Decoder::new(&wild)), None);
    }
}
