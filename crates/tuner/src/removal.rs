//! What is taken out of a strong kernel: by the catalogue, by a local motif, or by somebody who is asked.

use experience::{OF_A_MODEL, RewoundPatch, Setting};
use motif::{Context, Counter, Site};
use source::{Patch, difference};

/// What was taken out of a kernel or made worse.
#[derive(Clone, Debug)]
pub(super) struct Removal {
    /// Id of the motif, name of the local motif, kind of the setting, or words for what somebody else took out.
    pub what: String,
    /// Place in the sources, or name of the tunable.
    pub place: String,
    /// Conditions of the motif.
    pub conditions: Vec<String>,
    /// Counters of which one has to be higher without it.
    pub relieves: Vec<Counter>,
    /// Values of a setting.
    pub setting: Option<Setting>,
}

/// A removal with the edits that make it.
#[derive(Clone, Debug)]
pub(super) struct Rewound {
    /// What goes.
    pub removal: Removal,
    /// Edits against the strong kernel.
    pub patch: Patch,
}

impl Rewound {
    /// A motif of the catalogue.
    pub fn of_catalogue(rewound: RewoundPatch) -> Self {
        let RewoundPatch { motif, site, patch } = rewound;
        let removal = Removal {
            what: motif.to_string(),
            place: place(&site),
            conditions: site.conditions,
            relieves: motif::by_id(motif).metadata().relieves.to_vec(),
            setting: None,
        };
        Self { removal, patch }
    }

    /// A local motif. Where nobody has said what it relieves, any counter will do.
    pub fn of_local(name: &str, relieves: Option<Counter>, site: &Site, patch: Patch) -> Self {
        let removal = Removal {
            what: name.to_owned(),
            place: place(site),
            conditions: site.conditions.clone(),
            relieves: relieves.map_or_else(|| Counter::ALL.to_vec(), |counter| vec![counter]),
            setting: None,
        };
        Self { removal, patch }
    }

    /// What somebody wants taken out; otherwise why it is not tried.
    pub fn of_rewinder(context: &Context, wanted: &proposer::Removal) -> Result<Self, String> {
        let what = format!("{OF_A_MODEL}{}", wanted.title);
        let patch = difference(&context.tree, &wanted.wanted, &wanted.title, &what);
        context.admit(&patch).map_err(|refusal| refusal.to_string())?;
        let first = patch.edits.iter().min_by_key(|edit| (edit.file.clone(), edit.span.start));
        let place = first.map(|edit| {
            let text = context.tree.text(&edit.file).unwrap_or_default();
            let before = text.get(..edit.span.start).unwrap_or_default();
            format!("{}:{}", edit.file, before.matches('\n').count() + 1)
        });
        let removal = Removal {
            what,
            place: place.unwrap_or_default(),
            conditions: Vec::new(),
            relieves: vec![wanted.relieves],
            setting: None,
        };
        Ok(Self { removal, patch })
    }
}

fn place(site: &Site) -> String {
    format!("{}:{}", site.file, site.line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::SourceTree;
    use source::facts::KnownValues;

    #[test]
    fn what_is_wanted_goes_through_the_gate_and_is_named_by_its_place() {
        let text = "class KernelA {\n    void P() {\n        Quick();\n    }\n};\n";
        let tree = |text: &str| -> SourceTree { [("k.cpp", text)].into_iter().collect() };
        let context = Context::new(tree(text), KnownValues::default(), None);
        let of = |wanted: &str| {
            let wanted = tree(wanted);
            let removal = proposer::Removal { title: "slowly".to_owned(), wanted, relieves: Counter::VecUs };
            Rewound::of_rewinder(&context, &removal)
        };
        let made = of(&text.replace("Quick", "Slow")).unwrap();
        assert_eq!((made.removal.what.as_str(), made.removal.place.as_str()), ("model: slowly", "k.cpp:3"));
        assert_eq!(made.removal.relieves, [Counter::VecUs]);
        assert_eq!(context.tree.apply(&made.patch).unwrap(), tree(&text.replace("Quick", "Slow")));
        assert!(of(&text.replace("Quick();", "Quick(;")).is_err(), "it does not parse");
    }
}
