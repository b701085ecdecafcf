//! Plots as hand-written SVG. Colours are classes, so that the page's light and dark themes apply; every plot has a
//! title and a description for readers that do not see it, and every mark a tooltip.

mod axis;
mod lineage;
mod plot;
mod search;
mod stalls;
mod timeline;

pub(super) use lineage::lineage;
pub(super) use search::search_chart;
pub(super) use stalls::stall_bars;
pub(super) use timeline::{Side, Timelines, timelines};
