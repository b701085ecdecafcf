//! What goes wrong on a device, by AscendCL's codes.

/// Whose fault a failed launch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceFault {
    /// The kernel does not end.
    Hang,
    /// The kernel did what no kernel may: an address that is not its own, an instruction that is none.
    Exception,
    /// There is not that much memory.
    OutOfMemory,
    /// The device's memory is damaged: nothing that it answers can be believed.
    Ecc,
    /// The device or its driver does not answer.
    Lost,
    /// Anything else: the launch was refused before it began.
    Refused,
}

impl DeviceFault {
    /// The fault that a code means.
    pub fn of(code: i64) -> Self {
        match code {
            // Time limits of cores, of streams and of events.
            507_014 | 507_034 | 507_046..=507_048 => Self::Hang,
            507_015 | 507_016 | 507_035 | 507_036 | 507_042..=507_045 | 507_049 | 507_050 => Self::Exception,
            200_000 | 207_001 | 207_018 => Self::OutOfMemory,
            507_053..=507_055 => Self::Ecc,
            // No such device, no answer of it, its driver, its link.
            107_001 | 107_019 | 107_022 | 207_004 | 207_020 | 507_010 | 507_012 | 507_033 | 507_056 | 507_899
            | 507_901 => Self::Lost,
            _ => Self::Refused,
        }
    }

    /// Whether the device is to be used no more.
    pub fn takes_device_out(self) -> bool {
        matches!(self, Self::Ecc | Self::Lost)
    }

    /// Whether the process that ran into it has to go: what it holds of the device is spoilt.
    pub fn spoils_process(self) -> bool {
        !matches!(self, Self::OutOfMemory | Self::Refused)
    }
}

/// Why a launch gave no times.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LaunchFailure {
    /// AscendCL said no.
    #[error("{stage} failed with code {code}{}", if message.is_empty() { String::new() } else { format!(": {message}") })]
    Device {
        /// What was being done.
        stage: String,
        /// AscendCL's code; 0 where it was the launcher itself.
        code: i64,
        /// AscendCL's words.
        message: String,
        /// What that means.
        fault: DeviceFault,
    },
    /// No answer within the limit; the launcher was killed.
    #[error("no answer from the device within {0:.1} s")]
    TimedOut(f64),
    /// The launcher ended by itself.
    #[error("the launcher ended: {0}")]
    Ended(String),
    /// The launcher's answer is none.
    #[error("the launcher's answer is not understood: {0}")]
    Garbled(String),
}

impl LaunchFailure {
    /// What it means for the device.
    pub fn fault(&self) -> DeviceFault {
        match self {
            Self::Device { fault, .. } => *fault,
            Self::TimedOut(_) => DeviceFault::Hang,
            Self::Ended(_) => DeviceFault::Exception,
            Self::Garbled(_) => DeviceFault::Lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DeviceFault::{self, Ecc, Exception, Hang, Lost, OutOfMemory, Refused};

    #[test]
    fn codes_say_what_becomes_of_device_and_process() {
        for (code, fault, device_out, process_out) in [
            (507_014, Hang, false, true),
            (507_046, Hang, false, true),
            (507_015, Exception, false, true),
            (507_035, Exception, false, true),
            (207_001, OutOfMemory, false, false),
            (507_054, Ecc, true, true),
            (507_010, Lost, true, true),
            (507_899, Lost, true, true),
            (107_000, Refused, false, false),
            (0, Refused, false, false),
        ] {
            let found = DeviceFault::of(code);
            assert_eq!(
                (found, found.takes_device_out(), found.spoils_process()),
                (fault, device_out, process_out),
                "{code}"
            );
        }
    }
}
