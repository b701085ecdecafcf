//! Tuning decisions that a rewrite has brought along: what [`discover_sources`](super::discover_sources) would find behind it, and not before.

use super::constraints;
use super::tunables::{editable_files, find};
use manifest::Layout;
use source::SourceTree;
use source::tunable::Flow;
use space::{Binding, NO_LIMIT, Tunable, domain_values};

/// What a rewrite has brought along.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Brought {
    /// Tunables, under names that no other tunable has. Their defaults are the values that they came with.
    pub tunables: Vec<Tunable>,
    /// Conditions that every configuration must meet because of them.
    pub constraints: Vec<String>,
}

/// Tunables that the sources have `after` a rewrite, and had not `before`; `known` are those that are searched anyway.
pub fn brought(before: &SourceTree, after: &SourceTree, layout: Layout, known: &[Tunable]) -> Brought {
    let had = find(before, &editable_files(before), layout).tunables;
    let sources = editable_files(after);
    let found = find(after, &sources, layout).tunables;
    let is_new = |tunable: &Tunable| {
        let is_there = |other: &Tunable| at_one_place(&other.binding, &tunable.binding);
        !had.iter().any(is_there) && !known.iter().any(is_there)
    };
    let mut all = known.to_vec();
    for mut tunable in found.into_iter().filter(is_new) {
        let value = tunable.default.clone().unwrap_or(NO_LIMIT);
        if !domain_values(&tunable).is_ok_and(|values| values.len() > 1 && values.contains(&value)) {
            continue;
        }
        tunable.name = free_name(&all, &tunable.name);
        tunable.default = Some(value);
        all.push(tunable);
    }
    let flow = Flow::of(after, &sources);
    let mut constraints = constraints::find(after, &sources, &flow, &all);
    let of_others = constraints::find(after, &sources, &flow, known);
    constraints.retain(|constraint| !of_others.contains(constraint));
    Brought { tunables: all.split_off(known.len()), constraints }
}

/// Whether two bindings are of the same place, whatever other files have to keep in step with it.
fn at_one_place(one: &Binding, other: &Binding) -> bool {
    match (one, other) {
        (Binding::Constant { file, name, also }, Binding::Constant { file: of, name: named, also: with }) => {
            let files = |first: &String, more: &[String]| -> Vec<String> {
                std::iter::once(first).chain(more).cloned().collect()
            };
            let (here, there) = (files(file, also), files(of, with));
            name == named && here.iter().any(|file| there.contains(file))
        }
        _ => one == other,
    }
}

fn free_name(known: &[Tunable], name: &str) -> String {
    let is_taken = |name: &str| known.iter().any(|tunable| tunable.name == name);
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !is_taken(name)).unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::{Domain, Value};

    const FIXED: &str = "static ge::graphStatus Tile(gert::TilingContext* context)\n{\n    TileData tiling;\n    \
                         tiling.set_tileLength(context->GetLength());\n    context->SetBlockDim(40);\n    return 0;\n}\n";
    const EVOLVED: &str = "static ge::graphStatus Tile(gert::TilingContext* context)\n{\n    constexpr uint32_t SHORT_TILE = 256;\n    \
                           TileData tiling;\n    const uint32_t length = context->GetLength();\n    \
                           tiling.set_tileLength(length < 4096 ? SHORT_TILE : length);\n    context->SetBlockDim(40);\n    return 0;\n}\n";
    const KERNEL: &str = "extern \"C\" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR tiling)\n{\n    \
                          GET_TILING_DATA(data, tiling);\n    pipe.InitBuffer(inQueue, 1, data.tileLength * sizeof(float));\n    \
                          const uint32_t first = AscendC::GetBlockIdx();\n}\n";

    fn tree(host: &str) -> SourceTree {
        [("op_host/k.cpp", host), ("op_kernel/k.cpp", KERNEL)].into_iter().collect()
    }

    #[test]
    fn a_constant_of_a_new_tiling_function_is_found_and_what_was_there_is_not() {
        let layout = Layout::Msopgen;
        let known = brought(&SourceTree::new(), &tree(FIXED), layout, &[]).tunables;
        let places: Vec<&str> = known.iter().map(|tunable| tunable.name.as_str()).collect();
        let found = brought(&tree(FIXED), &tree(EVOLVED), layout, &[]);
        let [tunable] = found.tunables.as_slice() else { panic!("{:?} beside {places:?}", found.tunables) };
        assert_eq!((tunable.name.as_str(), &tunable.default), ("SHORT_TILE", &Some(Value::Int(256))));
        assert_eq!(tunable.domain, Domain::PowerOfTwo { min: 64, max: 32_768 });
        assert_eq!(brought(&tree(FIXED), &tree(FIXED), layout, &[]), Brought::default());
        // A tunable of the manifest may be called like that, and one of the same place is searched already.
        let other = Tunable { binding: Binding::Recorded, ..tunable.clone() };
        assert_eq!(brought(&tree(FIXED), &tree(EVOLVED), layout, &[other]).tunables[0].name, "SHORT_TILE_2");
        assert!(brought(&tree(FIXED), &tree(EVOLVED), layout, std::slice::from_ref(tunable)).tunables.is_empty());
    }
}
