//! What is measured on, and how far the model is off there.

use crate::units::microseconds;
use events::{Devices, ModelError};

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
        assert_eq!(model_error(&error), "modelled 9.100 us, measured 10.40 us, ratio 1.14");
        error = ModelError { deviation: Some(0.031), pairs: 25, lost: vec!["device 1: ECC".to_owned()], ..error };
        assert!(model_error(&error).ends_with("ratio 1.14 ± 3 % over 25 pairs; lost device 1: ECC"));
    }
}
