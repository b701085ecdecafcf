//! Kernels whose buffers flags order by hand, set and awaited at once.

use super::super::draw::Draw;

/// How flags are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// By a function of the class for any pipes.
    Function,
    /// Where they are needed, with an id that is asked for.
    Asked,
    /// Where they are needed, with an id chosen by hand.
    Chosen,
    /// In the older form, by the names of pipes.
    Older,
}

impl Style {
    pub(super) fn draw(draw: &mut Draw) -> Self {
        draw.one(&[Self::Function, Self::Asked, Self::Asked, Self::Chosen, Self::Older])
    }

    /// Statements that let the second pipe of an event wait for the first.
    pub(super) fn wait(self, event: &str) -> Vec<String> {
        let of = format!("AscendC::HardEvent::{event}");
        match self {
            Self::Function => vec![format!("Wait<{of}>();")],
            Self::Asked => {
                let id = format!("event{}", event.replace('_', ""));
                vec![
                    format!("AscendC::TEventID {id} = AscendC::GetTPipePtr()->FetchEventID({of});"),
                    format!("AscendC::SetFlag<{of}>({id});"),
                    format!("AscendC::WaitFlag<{of}>({id});"),
                ]
            }
            Self::Chosen => {
                ["Set", "Wait"].iter().map(|kind| format!("AscendC::{kind}Flag<{of}>(EVENT_ID3);")).collect()
            }
            Self::Older => {
                let (from, to) = event.split_once('_').unwrap_or_default();
                ["set", "wait"].iter().map(|kind| format!("{kind}_flag(PIPE_{from}, PIPE_{to}, EVENT_ID2);")).collect()
            }
        }
    }

    /// All of some events one after the other.
    pub(super) fn waits(self, events: &[&str]) -> Vec<String> {
        events.iter().flat_map(|event| self.wait(event)).collect()
    }

    /// The function that some styles need.
    pub(super) fn function(self) -> &'static str {
        match self {
            Self::Function => {
                "    template <AscendC::HardEvent event>\n    __aicore__ inline void Wait()\n    {\n        AscendC::TEventID id = AscendC::GetTPipePtr()->FetchEventID(event);\n        AscendC::SetFlag<event>(id);\n        AscendC::WaitFlag<event>(id);\n    }\n"
            }
            _ => "",
        }
    }
}

/// A function that copies a tile in, does something with it or not, and copies it out, all in one buffer.
pub(super) fn moves(draw: &mut Draw, style: Style, whole: bool) -> String {
    let padded = "AscendC::DataCopyPad(moved, xGm[start], AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0}, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});";
    let out = "AscendC::DataCopyPad(zGm[start], moved, AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0});";
    let mut lines = vec!["AscendC::LocalTensor<T> moved = inBuf.Get<T>();".to_owned()];
    if draw.percent(12) {
        // Something of the last round may stay.
        lines.push(
            "if (start > 0) {\n            AscendC::Duplicate(moved, static_cast<T>(3), tile_);\n        }".to_owned(),
        );
        lines.extend(style.wait("V_MTE2"));
    }
    let fill = match (whole, draw.below(4)) {
        (true, 0) => "AscendC::DataCopy(moved, xGm[start], count);".to_owned(),
        (true, 1) => "if (count == tile_) {\n            AscendC::DataCopy(moved, xGm[start], count);\n        } else {\n            FILL\n        }".replace("FILL", padded),
        // A round that is not filled keeps what was there.
        (_, 2) if draw.percent(15) => format!("if (start == 0 || mode_ != 2) {{\n            {padded}\n        }}"),
        _ => padded.to_owned(),
    };
    lines.push(fill);
    if draw.percent(50) {
        lines.extend(style.wait("MTE2_V"));
        let length = draw.one(&["count", "count", "tile_"]);
        lines.push(format!("AscendC::Adds(moved, moved, static_cast<T>(1), {length});"));
        lines.extend(style.wait("V_MTE3"));
    } else {
        lines.extend(style.wait("MTE2_MTE3"));
    }
    lines.push(out.to_owned());
    if draw.percent(10) {
        lines.push("if (mode_ == 1) {\n            STORE\n        }".replace("STORE", out));
    }
    lines.extend(style.waits(draw.one(&[&["MTE3_MTE2"][..], &["MTE3_MTE2", "MTE3_V"]])));
    let body: String = lines.iter().map(|line| format!("        {line}\n")).collect();
    format!("    __aicore__ inline void Move(uint32_t start, uint32_t count)\n    {{\n{body}    }}\n")
}
