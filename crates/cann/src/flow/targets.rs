//! Which targets of a tree are of host code, of kernels, or only lay out a package. Known by name, in both naming schemes.

/// Targets of a project, sorted by what they are for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Targets {
    /// Tiling, interfaces and graph libraries.
    pub host: Vec<String>,
    /// What kernels need beside them: generated texts.
    pub texts: Vec<String>,
    /// What only an installed package has.
    pub optional: Vec<String>,
    /// Kernels.
    pub kernel: Vec<String>,
}

const HOST: [&str; 5] = ["cust_optiling", "cust_op_proto", "cust_opapi", "cust_opmaster", "optiling_compat"];
const TEXTS: [&str; 3] = ["ascendc_impl_gen", "ops_info_gen", "_copy_kernel_srcs"];
const OPTIONAL: [&str; 5] =
    ["npu_supported", "modify_vendor", "gen_version_info", "_update_so_names", "gen_ops_config"];

impl Targets {
    pub(super) fn of(all: &[String], unit: &str) -> Targets {
        let mut targets = Targets::default();
        let whole = all.iter().any(|name| name == "binary");
        for name in all {
            let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
            let (is_text, is_optional) = (has(&TEXTS), has(&OPTIONAL));
            let is_library = name.contains("_ascendc_") && !name.contains("static") && !name.contains("check");
            // `AddCustom_ascend910b`, or everything by one name.
            let is_kernel = name.strip_suffix(unit).is_some_and(|before| before.ends_with('_'))
                && !name.starts_with("ascendc_bin_")
                && !is_text
                && !is_optional;
            let is_part = is_kernel || name.strip_prefix("ascendc_bin_") == Some(unit);
            if name == "binary" || is_part && !whole {
                targets.kernel.push(name.clone());
            } else if HOST.contains(&name.as_str()) || is_library && !is_kernel {
                targets.host.push(name.clone());
            } else if is_text && !name.starts_with("ascendc_bin_") {
                targets.texts.push(name.clone());
            } else if is_optional && !name.starts_with("ascendc_bin_") {
                targets.optional.push(name.clone());
            }
        }
        targets
    }
}

#[cfg(test)]
mod tests {
    use super::Targets;

    fn of(all: &[&str]) -> Targets {
        Targets::of(&all.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), "u1")
    }

    #[test]
    fn both_naming_schemes_are_known() {
        let classic = of(&[
            "all",
            "binary",
            "cust_optiling",
            "optiling_compat",
            "cust_opapi",
            "cust_tf_parsers",
            "ops_info_gen_u1",
            "ascendc_impl_gen",
            "ascendc_bin_u1",
            "ascendc_bin_u1_add_custom_0",
            "ascendc_bin_u1_gen_ops_config",
            "package",
        ]);
        assert_eq!(classic.host, ["cust_optiling", "optiling_compat", "cust_opapi"]);
        assert_eq!(classic.texts, ["ops_info_gen_u1", "ascendc_impl_gen"]);
        assert_eq!(classic.kernel, ["binary"]);

        let package = of(&[
            "add_package_ascendc_cust_optiling",
            "optiling_compat",
            "add_package_ascendc_cust_opapi",
            "AddCustom_u1",
            "AddCustom_u2",
            "kernels_ops_info_gen_u1",
            "kernels_copy_kernel_srcs",
            "add_package_update_so_names",
            "tf_plugin",
            "package",
        ]);
        assert_eq!(package.host.len(), 3, "{package:?}");
        assert_eq!(package.kernel, ["AddCustom_u1"]);
        assert_eq!(package.texts, ["kernels_ops_info_gen_u1", "kernels_copy_kernel_srcs"]);
        assert_eq!(package.optional, ["add_package_update_so_names"]);
    }
}
