//! What is measured on, and how far the model is off there.

use crate::units::microseconds;
use events::{Devices, ModelError};

/// Error of the model from which on its constants are worth a fit.
const WORTH_FITTING: f64 = 0.05;

/// A line on what is measured on.
pub(super) fn devices(devices: &Devices) -> String {
    let mut how = vec![
        format!("{} to {} launches", devices.launches, devices.most_launches),
        format!("after {} and {} us", devices.warm_up, devices.warm_up_us),
        if devices.flush_l2 { "L2 cache emptied before each" } else { "L2 cache as the launch before left it" }
            .to_owned(),
    ];
    if devices.rotate > 1 {
        how.push(format!("{} copies of the tensors in turn", devices.rotate));
    }
    format!(
        "on {} with toolkit {}, by {}; {}",
        devices.devices.join(", "),
        devices.toolkit,
        devices.route,
        how.join(", ")
    )
}

/// A line on the model's error.
pub(super) fn model_error(error: &ModelError) -> String {
    let mut text = format!(
        "modelled {}, measured {}, ratio {:.2}",
        microseconds(error.modelled_us),
        microseconds(error.measured_us),
        error.ratio
    );
    if let Some(deviation) = error.deviation {
        text.push_str(&format!(" ± {:.0} % over {} pairs", deviation * 100.0, error.pairs));
    }
    if (error.ratio - 1.0).abs().max(error.deviation.unwrap_or(0.0)) > WORTH_FITTING {
        text.push_str("; `cargo ascend-tune calibrate --from-journal` fits the description to it");
    }
    for lost in &error.lost {
        text.push_str(&format!("; lost {lost}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_models_error_is_one_line() {
        let mut error = ModelError {
            modelled_us: 9.1,
            measured_us: 10.4,
            ratio: 1.142,
            deviation: None,
            pairs: 1,
            lost: Vec::new(),
        };
        let fits = "; `cargo ascend-tune calibrate --from-journal` fits the description to it";
        assert_eq!(model_error(&error), format!("modelled 9.100 us, measured 10.40 us, ratio 1.14{fits}"));
        assert!(!model_error(&ModelError { ratio: 1.03, ..error.clone() }).contains(fits));
        error = ModelError { deviation: Some(0.031), pairs: 25, lost: vec!["device 1: ECC".to_owned()], ..error };
        let said = model_error(&error);
        assert!(said.contains("ratio 1.14 ± 3 % over 25 pairs; ") && said.ends_with("; lost device 1: ECC"), "{said}");
    }
}
