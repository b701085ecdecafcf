//! Tiling functions that came of one another: islands side by side, generations downwards, children joined with their parents.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use events::TilingVersion;

use super::super::units::factor;
use super::plot::{WIDTH, escape, open, shortened};

const TOP: f64 = 26.0;
const ROW: f64 = 44.0;

/// The picture; `None` where there are none.
pub(crate) fn lineage(versions: &[TilingVersion]) -> Option<String> {
    let islands = versions.iter().map(|version| version.island).max()? + 1;
    let generations = versions.iter().map(|version| version.generation).max()?;
    let right = versions.iter().filter(|version| version.speedup.is_some()).count();
    let best = versions.iter().filter_map(|version| version.speedup).fold(1.0, f64::max);
    let mut svg = open(
        "lineage",
        TOP + f64::from(generations) * ROW,
        "Tiling functions and what they came of",
        &format!(
            "{} tiling functions on {islands} islands, {right} of them right; the best brings {}.",
            versions.len(),
            factor(best)
        ),
    );
    let width = WIDTH / f64::from(islands);
    let place = |version: &TilingVersion| {
        let x = (f64::from(version.island) + 0.5) * width;
        (x, TOP + (f64::from(version.generation) - 0.5) * ROW)
    };
    let places: BTreeMap<&str, (f64, f64)> =
        versions.iter().map(|version| (version.name.as_str(), place(version))).collect();
    // A `String` takes everything that is written to it.
    for island in 0..islands {
        let x = (f64::from(island) + 0.5) * width;
        let _ = write!(
            svg,
            "<text class=\"label\" x=\"{x:.1}\" y=\"14\" text-anchor=\"middle\">island {}</text>",
            island + 1
        );
    }
    for version in versions {
        let parent = version.parent.as_deref().and_then(|parent| places.get(parent));
        if let (Some((x, y)), (to_x, to_y)) = (parent, place(version)) {
            let _ = write!(svg, "<path class=\"grid\" d=\"M{x:.1} {y:.1}L{to_x:.1} {to_y:.1}\"/>");
        }
    }
    for version in versions {
        let (x, y) = place(version);
        let class = if version.speedup.is_some() { "host" } else { "rejected" };
        let brings = version.speedup.map_or_else(|| "refused".to_owned(), factor);
        let _ = write!(
            svg,
            "<g><title>{}: {}; {}</title><circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>\
             <text class=\"label\" x=\"{:.1}\" y=\"{:.1}\">{} {}</text></g>",
            escape(&version.name),
            escape(&version.title),
            escape(&version.outcome),
            x + 9.0,
            y + 4.0,
            escape(&shortened(&version.name, 14)),
            escape(&brings),
        );
    }
    svg.push_str("</svg>");
    Some(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_joined_with_their_parents_and_titles_stay_text() {
        let version = |name: &str, parent: Option<&str>, island, generation, speedup| TilingVersion {
            name: name.to_owned(),
            title: "a <wider> tile".to_owned(),
            parent: parent.map(str::to_owned),
            island,
            generation,
            speedup,
            outcome: "right".to_owned(),
        };
        let versions = [
            version("model-1", None, 0, 1, Some(1.1)),
            version("model-2", None, 1, 1, None),
            version("model-3", Some("model-1"), 1, 2, Some(1.25)),
        ];
        let svg = lineage(&versions).unwrap();
        assert_eq!((svg.matches("<circle").count(), svg.matches("<path class=\"grid\"").count()), (3, 1));
        assert!(svg.contains("a &lt;wider&gt; tile") && svg.contains("2 of them right; the best brings 1.25"), "{svg}");
        assert_eq!(lineage(&[]), None);
    }
}
